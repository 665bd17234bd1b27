// Makes a picture of a page small: at most 256 colours, of which a page has few that matter, and the best compression.
//
// A PNG of Chromium has 8-bit RGB or RGBA and no interlacing; that is all that is read. The 256 most frequent colours
// stay, each other becomes the nearest of them: letters have soft edges in hundreds of shades that nobody tells apart.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

function chunks(png) {
  const list = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    list.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return list;
}

const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, 8 + data.length);
  return out;
}

function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** One number per pixel, 0xrrggbb. */
function pixels(png) {
  const parts = chunks(png);
  const head = parts[0].data;
  const [width, height, depth, kind] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9]];
  if (depth !== 8 || (kind !== 2 && kind !== 6) || head[12] !== 0) throw new Error("not a PNG as Chromium writes it");
  const bytes = kind === 2 ? 3 : 4;
  const raw = inflateSync(Buffer.concat(parts.filter((one) => one.type === "IDAT").map((one) => one.data)));
  const row = width * bytes;
  let above = Buffer.alloc(row);
  const colours = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    const line = raw.subarray(y * (row + 1) + 1, (y + 1) * (row + 1));
    for (let x = 0; x < row; x++) {
      const left = x >= bytes ? line[x - bytes] : 0;
      const corner = x >= bytes ? above[x - bytes] : 0;
      const guess = [0, left, above[x], (left + above[x]) >> 1, paeth(left, above[x], corner)][filter];
      line[x] = (line[x] + guess) & 255;
    }
    for (let x = 0; x < width; x++)
      colours[y * width + x] = (line[x * bytes] << 16) | (line[x * bytes + 1] << 8) | line[x * bytes + 2];
    above = line;
  }
  return { width, height, colours };
}

function palette(colours) {
  const counts = new Map();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const kept = [...counts]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, 256)
    .map(([colour]) => colour);
  const place = new Map();
  for (const colour of counts.keys()) {
    let best = 0;
    let least = Infinity;
    kept.forEach((one, i) => {
      const [r, g, b] = [16, 8, 0].map((shift) => ((one >> shift) & 255) - ((colour >> shift) & 255));
      const distance = r * r + g * g + b * b;
      if (distance < least) [best, least] = [i, distance];
    });
    place.set(colour, best);
  }
  return { kept, place };
}

export function smallPng(png) {
  const { width, height, colours } = pixels(png);
  const { kept, place } = palette(colours);
  const raw = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) raw[y * (width + 1) + 1 + x] = place.get(colours[y * width + x]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  head[9] = 3;
  const table = Buffer.from(kept.flatMap((colour) => [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", table),
    chunk("IDAT", deflateSync(raw, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
