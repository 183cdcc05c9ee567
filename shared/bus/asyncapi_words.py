"""What an AsyncAPI document says in words: how to connect, read, check and publish, for a reader who has nothing else."""

CONNECT = """\
## Connect
The bus is NATS (protocol version 1, headers on). It speaks TLS 1.3 only, and the TLS handshake comes first: the server sends nothing in the clear.
Trust exactly the installation's certificate (`tls/ca.pem`) and check it for the name `localhost`, whatever address you dial.
Sign in with the nkey of this service (`keys/{service}/bus.nk`, the seed). All answers to you come under the inbox prefix `_INBOX_{service}`:
set it in your client, for you may subscribe to nothing else. Anything that is not listed in this document is refused by the server."""

READ = """\
## Read
Streams and durable consumers exist already; you can make, list and delete none. Each `receive` operation names its stream and durable in `x-jetstream`.
The JetStream API has the prefix `HUB.API` here (clients call it `apiPrefix` or `prefix`), not `$JS.API`; only INFO and MSG.NEXT of your own durables are yours.

1. Pull: publish `{{"batch": 100, "expires": 5000000000}}` (nanoseconds) to `HUB.API.CONSUMER.MSG.NEXT.<stream>.<durable>` with a reply subject under your
   inbox. Messages come to that subject. One with an empty body and a `Status` header is no event: 404 and 408 mean that there was nothing, 409 that the request ended.
2. Check it, as below. 3. Apply it. 4. Acknowledge: publish `+ACK` to the message's reply subject. `-NAK {{"delay": <ns>}}` brings it again later,
   `+TERM` gives it up for good.
What is not acknowledged within 10 s (3 s in a cluster) comes again, to whichever instance pulls next; at most 2,000 are out at a time. There is no last attempt: park what you cannot handle, and acknowledge it.
An event can come twice: remember `id`. Events of one `key` can come out of order: apply one only when its `keyversion` is greater than the one you hold."""

CHECK = """\
## Check the seal
Everything under `to.{service}.` carries the bridge's seal in the header `Schleuse-Seal`. An event without a valid seal is forged: do not apply it.
The value is `1 <key id> <signature> <index> <count> <path>`, separated by single spaces; signature and path are base64 (RFC 4648, section 4), the path may be empty
and the space before it may then be missing. The bridge seals all events of one transaction together, as leaves of a Merkle tree:

1. leaf = SHA-256(0x00 ‖ subject ‖ 0x00 ‖ body): the subject it came on, and the body byte for byte as it came.
2. Climb: while `count` > 1: if index XOR 1 < count, take the next 32 bytes of the path as sibling; node = SHA-256(0x01 ‖ sibling ‖ node) when index is odd,
   SHA-256(0x01 ‖ node ‖ sibling) when it is even. (A last node without a sibling moves up as it is and takes nothing from the path.) Then index = index div 2,
   count = (count + 1) div 2. Refuse when 0 ≤ index < count ≤ 100000 does not hold at the start, or when the path is not used up exactly.
3. The signature is Ed25519 over `schleuse.envelope.v1` ‖ 0x00 ‖ the 32 bytes of the root. The key is the one with that `key_id` in the list `envelope` of
   `keys/public.json` (`public_key`: base64 of 32 bytes; key id = the first 16 hex digits of its SHA-256). No other list counts.
4. Only then read the body: `source` must be `/<owner of the event>`, and the subject must be the channel of that event.

`schemas/consumers/vectors.json` holds sealed events with their key, to try an implementation on."""

SEND = """\
## Publish
Publish to the channel's subject as a request: the answer is JetStream's PubAck (JSON with `stream` and `seq`, or `error`), and it means that the event is on disk.
Send the header `Nats-Msg-Id` with the event's `id`: the same id within two minutes is stored once. An event has at most 900 KiB with its headers.
`source` is `/{service}`. The lock checks every event against its schema; unknown fields are refused, not dropped, and what it refuses is parked with its reason."""

ENVELOPE = """\
## Events
Every message is one CloudEvent 1.0 in structured JSON mode (media type `application/cloudevents+json`; NATS carries no content type of its own, so no header says so).
`dataschema` names event and version; the JSON Schema of its `data` lies in `schemas/snapshots`. Strings with `contentEncoding: base64` hold bytes in the alphabet of RFC 4648, section 4.
`key` and `keyversion` order the history of one thing as its source counts it. Times have microseconds and are UTC."""


def description(service: str, *, reads_sealed: bool) -> str:
    """The document's own description, in Markdown."""
    parts = [CONNECT, READ, CHECK if reads_sealed else "", SEND, ENVELOPE]
    return "\n\n".join(part.format(service=service) for part in parts if part)
