// Light, dark, or as the system has it; on paper light. The choice is kept where the browser lets a file keep something.
import { h } from "./dom";

const NAMES = ["auto", "light", "dark"] as const;
type Theme = (typeof NAMES)[number];
const LABELS: Record<Theme, string> = { auto: "Auto", light: "Light", dark: "Dark" };
const KEY = "loopfold-theme";

const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

let theme: Theme = "auto";

export function startTheme(): void {
  try {
    const kept = localStorage.getItem(KEY) as Theme | null;
    if (kept !== null && NAMES.includes(kept)) theme = kept;
  } catch {
    // a browser that keeps nothing for files
  }
  systemIsDark.addEventListener("change", apply);
  window.addEventListener("beforeprint", () => show("light"));
  window.addEventListener("afterprint", apply);
  apply();
}

export function themeButton(): HTMLElement {
  const button = h("button", { class: "plain theme", title: "Light, dark or as the system has it" });
  const label = () => (button.textContent = LABELS[theme]);
  button.addEventListener("click", () => {
    theme = NAMES[(NAMES.indexOf(theme) + 1) % NAMES.length]!;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // as above
    }
    apply();
    label();
  });
  label();
  return button;
}

function apply(): void {
  if (theme === "auto") show(systemIsDark.matches ? "dark" : "light");
  else show(theme);
}

function show(shown: "light" | "dark"): void {
  document.documentElement.dataset.theme = shown;
  window.dispatchEvent(new Event("themechange"));
}
