declare module "loopfold:rules" {
  const rules: Record<string, string>;
  export default rules;
}
declare module "*.css";
declare module "d3-flame-graph" {
  export interface Frame<Data> {
    data: Data;
    x0: number;
    x1: number;
    depth: number;
  }
  interface Chart<Data> {
    (selection: unknown): void;
    width(pixels: number): Chart<Data>;
    cellHeight(pixels: number): Chart<Data>;
    minFrameSize(pixels: number): Chart<Data>;
    transitionDuration(ms: number): Chart<Data>;
    sort(by: boolean): Chart<Data>;
    inverted(is: boolean): Chart<Data>;
    selfValue(is: boolean): Chart<Data>;
    setColorMapper(color: (frame: Frame<Data>, original: string) => string): Chart<Data>;
    getName(name: (frame: Frame<Data>) => string): Chart<Data>;
    setLabelHandler(label: (frame: Frame<Data>) => string): Chart<Data>;
    destroy(): void;
  }
  export default function flamegraph<Data>(): Chart<Data>;
}
