// Reads isl's text for sets and maps, as far as profiles have it: unions of pieces with affine bounds, `mod`, `floor`.
//
//     { S3[i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= i0; S3[10, i1] : i1 mod 2 = 0 and 0 <= i1 <= 4 }
//     { S1[o0, i1] -> S3[i0, i1] : 1 <= i0 <= 9 and o0 = i0 - 1 }
//     { S3[i0, i1] -> [i0, i0 + i1] }
//
// For drawing only: nothing is decided with it. What it does not know (quantified variables) is an Unsupported, and is
// said not to be drawn.

export class Unsupported extends Error {}

export type Values = Map<string, number>;

/** An expression: its variables, its value, and, where it is affine, its coefficients. */
export interface Expression {
  variables: Set<string>;
  value(values: Values): number;
  affine: { coefficients: Map<string, number>; constant: number } | null;
}

export interface Comparison {
  left: Expression;
  operator: "<=" | ">=" | "<" | ">" | "=" | "!=";
  right: Expression;
}

export interface Tuple {
  name: string; // empty for a schedule's time
  items: Expression[];
}

/** A set has no `from`. */
export interface Piece {
  from: Tuple | null;
  to: Tuple;
  where: Comparison[];
}

const TOKEN = /\s*(->|<=|>=|!=|[{}[\](),;:<>=+\-*/]|[0-9]+|[A-Za-z_][A-Za-z0-9_']*)/y;

function tokens(text: string): string[] {
  const list: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) {
      if (text.slice(at).trim() === "") break;
      throw new Unsupported(`character ${at}`);
    }
    list.push(match[1]!);
  }
  return list;
}

const constant = (value: number): Expression => ({
  variables: new Set(),
  value: () => value,
  affine: { coefficients: new Map(), constant: value },
});

const variable = (name: string): Expression => ({
  variables: new Set([name]),
  value: (values) => {
    const value = values.get(name);
    if (value === undefined) throw new Unsupported(`no value for ${name}`);
    return value;
  },
  affine: { coefficients: new Map([[name, 1]]), constant: 0 },
});

const union = (a: Set<string>, b: Set<string>): Set<string> => new Set([...a, ...b]);

function sum(a: Expression, b: Expression, sign: 1 | -1): Expression {
  let affine: Expression["affine"] = null;
  if (a.affine && b.affine) {
    const coefficients = new Map(a.affine.coefficients);
    for (const [name, factor] of b.affine.coefficients)
      coefficients.set(name, (coefficients.get(name) ?? 0) + sign * factor);
    for (const [name, factor] of coefficients) if (factor === 0) coefficients.delete(name);
    affine = { coefficients, constant: a.affine.constant + sign * b.affine.constant };
  }
  return {
    variables: union(a.variables, b.variables),
    value: (values) => a.value(values) + sign * b.value(values),
    affine,
  };
}

function product(a: Expression, b: Expression): Expression {
  const factor = [a, b].find((one) => one.affine !== null && one.affine.coefficients.size === 0);
  if (factor === undefined) throw new Unsupported("a product of variables");
  const other = factor === a ? b : a;
  const by = factor.affine!.constant;
  const affine = other.affine && {
    coefficients: new Map(
      [...other.affine.coefficients]
        .map(([name, value]) => [name, value * by] as const)
        .filter(([, value]) => value !== 0),
    ),
    constant: other.affine.constant * by,
  };
  return { variables: other.variables, value: (values) => by * other.value(values), affine };
}

const modulo = (a: number, b: number): number => ((a % b) + b) % b;

class Parser {
  private at = 0;
  constructor(private readonly list: string[]) {}

  private next(): string | undefined {
    return this.list[this.at];
  }
  private take(token?: string): string {
    const found = this.list[this.at++];
    if (found === undefined || (token !== undefined && found !== token))
      throw new Unsupported(`${token ?? "more"} expected, not ${found ?? "the end"}`);
    return found;
  }
  private accept(token: string): boolean {
    if (this.next() !== token) return false;
    this.at++;
    return true;
  }

  union(): Piece[] {
    const pieces: Piece[] = [];
    this.take("{");
    while (!this.accept("}")) {
      const first = this.tuple();
      const second = this.accept("->") ? this.tuple() : null;
      const where = this.accept(":") ? this.conditions() : [[]];
      for (const one of where) pieces.push({ from: second === null ? null : first, to: second ?? first, where: one });
      if (!this.accept(";") && this.next() !== "}") throw new Unsupported("; or } expected");
    }
    return pieces;
  }

  private tuple(): Tuple {
    const name = this.next() === "[" ? "" : this.take();
    const items: Expression[] = [];
    this.take("[");
    if (this.accept("]")) return { name, items };
    do items.push(this.expression());
    while (this.accept(","));
    this.take("]");
    return { name, items };
  }

  /** Alternatives of conjunctions. */
  private conditions(): Comparison[][] {
    const alternatives = [this.conjunction()];
    while (this.accept("or")) alternatives.push(this.conjunction());
    return alternatives.flat();
  }

  private conjunction(): Comparison[][] {
    let result = this.condition();
    while (this.accept("and")) {
      const more = this.condition();
      result = result.flatMap((one) => more.map((other) => [...one, ...other]));
    }
    return result;
  }

  private condition(): Comparison[][] {
    if (this.next() === "exists") throw new Unsupported("a quantified variable");
    if (this.next() === "(") {
      const start = this.at;
      try {
        this.at++;
        const inside = this.conditions();
        this.take(")");
        return inside;
      } catch (error) {
        if (!(error instanceof Unsupported)) throw error;
        this.at = start;
      }
    }
    const list: Comparison[] = [];
    let left = this.expression();
    while (["<=", ">=", "<", ">", "=", "!="].includes(this.next() ?? "")) {
      const operator = this.take() as Comparison["operator"];
      const right = this.expression();
      list.push({ left, operator, right });
      left = right;
    }
    if (list.length === 0) throw new Unsupported("a comparison expected");
    return [list];
  }

  private expression(): Expression {
    let result = this.accept("-") ? product(constant(-1), this.term()) : this.term();
    for (;;) {
      if (this.accept("+")) result = sum(result, this.term(), 1);
      else if (this.accept("-")) result = sum(result, this.term(), -1);
      else return result;
    }
  }

  private term(): Expression {
    let result = this.factor();
    for (;;) {
      if (this.accept("*")) {
        result = product(result, this.factor());
      } else if (this.accept("mod")) {
        const of = result;
        const by = Number(this.take());
        result = { variables: of.variables, value: (values) => modulo(of.value(values), by), affine: null };
      } else if (this.accept("/")) {
        const of = result;
        const by = Number(this.take());
        result = { variables: of.variables, value: (values) => of.value(values) / by, affine: null };
      } else if (isName(this.next()) && result.affine !== null && result.variables.size === 0) {
        result = product(result, this.factor());
      } else {
        return result;
      }
    }
  }

  private factor(): Expression {
    const token = this.take();
    if (token === "-") return product(constant(-1), this.factor());
    if (token === "(") {
      const inside = this.expression();
      this.take(")");
      return inside;
    }
    if (token === "floor") {
      this.take("(");
      const of = this.expression();
      this.take(")");
      return { variables: of.variables, value: (values) => Math.floor(of.value(values)), affine: null };
    }
    if (/^[0-9]/.test(token)) return constant(Number(token));
    if (isName(token)) return variable(token);
    throw new Unsupported(`${token} in an expression`);
  }
}

const isName = (token: string | undefined): boolean =>
  token !== undefined && /^[A-Za-z_]/.test(token) && !["and", "or", "mod", "exists"].includes(token);

/** The pieces of a set or map. Throws Unsupported. */
export function parseIsl(text: string): Piece[] {
  return new Parser(tokens(text)).union();
}

export function holds(comparison: Comparison, values: Values): boolean {
  const left = comparison.left.value(values);
  const right = comparison.right.value(values);
  switch (comparison.operator) {
    case "<=":
      return left <= right;
    case ">=":
      return left >= right;
    case "<":
      return left < right;
    case ">":
      return left > right;
    case "=":
      return left === right;
    case "!=":
      return left !== right;
  }
}
