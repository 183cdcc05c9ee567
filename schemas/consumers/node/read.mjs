// Read the events that Schleuse's bridge sends to one service, with the published documents and nothing else.
//
//   node read.mjs --asyncapi asyncapi/agent.json --snapshots snapshots --server 127.0.0.1:8423 \
//     --ca tls/ca.pem --keys keys/public.json --seed keys/agent/bus.nk
//
// Prints one JSON line per event and acknowledges it. An event that is not the bridge's, or does not fit its schema, is named on
// standard error and given up; the exit code is then 1.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { jetstream } from "@nats-io/jetstream";
import { connect, nkeyAuthenticator } from "@nats-io/transport-node";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const SEAL = "Schleuse-Seal", PURPOSE = Buffer.from("schleuse.envelope.v1\0"), DUTY = "envelope", BATCH = 100;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SPKI = Buffer.from("302a300506032b6570032100", "hex"); // RFC 8410: what stands before 32 bytes of an Ed25519 key

class Refused extends Error {}

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();

function bytes(text) {
  if (!BASE64.test(text)) throw new Refused("the seal cannot be read");
  return Buffer.from(text, "base64");
}

export class Seals {
  constructor(published) {
    this.keys = new Map((published[DUTY] ?? []).map((each) => [
      each.key_id,
      createPublicKey({ key: Buffer.concat([SPKI, Buffer.from(each.public_key, "base64")]), format: "der", type: "spki" }),
    ]));
  }

  check(seal, subject, body) {
    const words = (seal ?? "").split(" ");
    if (![5, 6].includes(words.length) || words[0] !== "1") throw new Refused("there is no seal, or one of another version");
    if (!/^\d{1,6}$/.test(words[3]) || !/^\d{1,6}$/.test(words[4])) throw new Refused("the seal cannot be read");
    const signature = bytes(words[2]), path = bytes(words[5] ?? "");
    const key = this.keys.get(words[1]);
    if (!key) throw new Refused(`no ${DUTY} key is named ${words[1]}`);
    const leaf = sha256(Buffer.from([0]), Buffer.from(subject), Buffer.from([0]), body);
    const root = climb(leaf, Number(words[3]), Number(words[4]), path);
    if (!verify(null, Buffer.concat([PURPOSE, root]), key, signature)) throw new Refused("the seal is not the bridge's, or the event was changed");
  }
}

function climb(node, index, count, path) {
  if (!(index < count && count <= 100_000)) throw new Refused("the seal names a place that is not in the tree");
  let at = 0;
  while (count > 1) {
    if ((index ^ 1) < count) {
      const sibling = path.subarray(at, at + 32);
      at += 32;
      node = index & 1 ? sha256(Buffer.from([1]), sibling, node) : sha256(Buffer.from([1]), node, sibling);
    }
    index = index >> 1;
    count = (count + 1) >> 1;
  }
  if (at !== path.length) throw new Refused("the seal's path has the wrong length");
  return node;
}

export class Contract {
  constructor(document, snapshots) {
    const server = document.servers.bus;
    this.inbox = server["x-inbox-prefix"];
    this.prefix = server["x-jetstream-api-prefix"];
    this.channels = document.channels;
    this.messages = document.components.messages;
    this.snapshots = snapshots;
    this.ajv = addFormats(new Ajv2020({ strict: false }));
    const receive = Object.values(document.operations).filter((each) => each.action === "receive").map((each) => each["x-jetstream"]);
    this.durables = [...new Set(receive.map((each) => `${each.stream} ${each.durable}`))].sort().map((each) => each.split(" "));
  }

  read(subject, body) {
    let event;
    try {
      event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch {
      throw new Refused("the body is no JSON");
    }
    const channel = this.channels[subject];
    if (!channel) throw new Refused(`nothing is published on ${subject}`);
    for (const { $ref } of Object.values(channel.messages)) {
      const message = this.messages[$ref.split("/").at(-1)];
      if (message["x-dataschema"] === event?.dataschema) return this.fitting(message, event);
    }
    throw new Refused(`${subject} carries no ${event?.dataschema}`);
  }

  fitting(message, event) {
    const [, owner, name, version] = message["x-dataschema"].split("/");
    if (event.source !== `/${owner}` || event.type !== message.name) throw new Refused(`${event.type} from ${event.source} is not what belongs here`);
    const file = join(this.snapshots, owner, `${name}.${version}.json`);
    const fits = this.ajv.getSchema(file) ?? this.ajv.addSchema(JSON.parse(readFileSync(file, "utf8")), file).getSchema(file);
    if (!fits(event.data)) throw new Refused(`data does not fit ${message["x-dataschema"]}: ${fits.errors[0].instancePath} ${fits.errors[0].message}`);
    return event;
  }
}

function apply(event, newest, seen) {
  // once, and only when it is newer than what is known of the same thing; a service would do this in one transaction
  const thing = `${event.source} ${event.type} ${event.key}`;
  const applied = !seen.has(event.id) && event.keyversion > (newest.get(thing) ?? -1);
  seen.add(event.id);
  if (applied) newest.set(thing, event.keyversion);
  const { type, id, key, keyversion, time } = event;
  console.log(JSON.stringify({ type, id, key, keyversion, time, applied }));
}

async function read(given) {
  const contract = new Contract(JSON.parse(readFileSync(given.asyncapi, "utf8")), given.snapshots);
  const seals = new Seals(JSON.parse(readFileSync(given.keys, "utf8")));
  const [hostname, port] = given.server.split(":");
  const client = await connect({
    servers: `${hostname}:${port}`,
    tls: { caFile: given.ca, handshakeFirst: true, servername: "localhost", minVersion: "TLSv1.3" },
    authenticator: nkeyAuthenticator(readFileSync(given.seed).subarray(0, 58)),
    inboxPrefix: contract.inbox,
    maxReconnectAttempts: 3,
  });
  let refused = 0;
  const newest = new Map(), seen = new Set();
  try {
    const js = jetstream(client, { apiPrefix: contract.prefix });
    for (const [stream, durable] of contract.durables) {
      const consumer = await js.consumers.get(stream, durable);
      let came = BATCH;
      while (came === BATCH) { // fewer: nothing more came in the time
        came = 0;
        for await (const message of await consumer.fetch({ max_messages: BATCH, expires: given.wait * 1000 })) {
          came += 1;
          try {
            seals.check(message.headers?.get(SEAL), message.subject, Buffer.from(message.data));
            apply(contract.read(message.subject, message.data), newest, seen);
            message.ack();
          } catch (error) {
            if (!(error instanceof Refused)) throw error;
            refused += 1;
            console.error(`refused on ${message.subject}: ${error.message}`);
            message.term();
          }
        }
      }
    }
  } finally {
    await client.drain();
  }
  return refused ? 1 : 0;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const wanted = ["asyncapi", "snapshots", "ca", "keys", "seed"];
  const options = Object.fromEntries([...wanted, "server", "wait"].map((name) => [name, { type: "string" }]));
  const { values } = parseArgs({ options });
  const missing = wanted.filter((name) => !values[name]);
  if (missing.length) {
    console.error(`missing: ${missing.map((name) => `--${name}`).join(" ")}; see the head of this file`);
    process.exit(2);
  }
  process.exit(await read({ server: "127.0.0.1:8423", ...values, wait: Number(values.wait ?? 2) }));
}
