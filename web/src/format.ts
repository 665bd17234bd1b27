// Numbers for people.

/** 12.345 -> "12.3"; what is not zero does not look like it: 0.012 -> "0.01". */
export function percent(value: number): string {
  if (value === 0) return "0";
  if (value >= 99.95) return "100";
  if (value >= 0.095) return value.toFixed(1);
  return value >= 0.005 ? value.toFixed(2) : "<0.01";
}

const UNITS = ["", " k", " M", " G", " T", " P"];

/** 2961234 -> "2.96 M". */
export function short(value: number): string {
  let unit = 0;
  while (value >= 999.5 && unit + 1 < UNITS.length) {
    value /= 1000;
    unit++;
  }
  return (unit === 0 ? String(Math.round(value)) : value.toPrecision(3)) + UNITS[unit];
}

/** Numbers in a sentence as people write them: "4.48e+06 as it is" -> "4.48 M as it is". */
export const readable = (text: string): string =>
  text.replace(/\b\d(?:\.\d+)?e\+\d+\b/g, (number) => short(Number(number)));

/** 1234567 -> "1,234,567". */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** 480 -> "480 B", 73728 -> "72 KiB". */
export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = -1;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "")} ${units[unit]}`;
}

/** 1.8402 -> "1.84×". */
export const times = (value: number): string => `${value >= 10 ? value.toFixed(1) : value.toFixed(2)}×`;

/** The first few of a list: "a, b and 7 more". */
export function firstOf(list: string[], most: number): string {
  if (list.length <= most + 1) return list.join(", ");
  return `${list.slice(0, most).join(", ")} and ${grouped(list.length - most)} more`;
}

export const plural = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
