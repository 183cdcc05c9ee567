// node parse_asyncapi.mjs MODULES FILE...: one JSON line per file with what AsyncAPI's own parser has to say.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(modules + "/");
const { Parser } = require("@asyncapi/parser");
const LEVELS = ["error", "warning", "info", "hint"];

for (const file of files) {
  const { document, diagnostics } = await new Parser().parse(readFileSync(file, "utf8"));
  const said = diagnostics.map((each) => ({ level: LEVELS[each.severity], code: each.code, path: each.path.join("/"), message: each.message }));
  const counts = document && {
    channels: document.channels().all().length,
    operations: document.operations().all().length,
    messages: document.messages().all().length,
  };
  console.log(JSON.stringify({ file, counts: counts ?? null, said }));
}
