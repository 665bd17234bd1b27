// Gets documents out of the page: elements of base64, in them gzip, in that JSON. Each is unpacked once, when it is needed.

const unpacked = new Map<string, Promise<unknown>>();

export function hasPart(name: string): boolean {
  return document.getElementById(`part-${name}`) !== null;
}

export function part<Document>(name: string): Promise<Document> {
  let promise = unpacked.get(name);
  if (promise === undefined) {
    promise = unpack(name);
    unpacked.set(name, promise);
  }
  return promise as Promise<Document>;
}

async function unpack(name: string): Promise<unknown> {
  const element = document.getElementById(`part-${name}`);
  if (element === null) throw new Error(`this page has no part "${name}"`);
  const text = atob((element.textContent ?? "").trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
