import type { DiffMain } from "./diff_model";
import { flameView } from "./flame";

export function diffViews(main: DiffMain) {
  return [{ view: "flame", label: "Flame graph", key: "1", draw: flameView(main) }];
}
