"""Profiles in tests: read, checked against docs/profile.schema.json, and searched by source line.

The checker knows as much of JSON schema as ours uses, and is stricter: a name that is not in the schema is an error.
Members that were left out because they have their default are there for the tests, as the schema says.
"""

import json
import os
import re

import lf

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}

with open(os.path.join(lf.SOURCE, "docs", "profile.schema.json")) as _file:
    SCHEMA = json.load(_file)


def has_type(value, name):
    if name in ("integer", "number"):
        return isinstance(value, (int,) if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def violations(value, rule=SCHEMA, where=""):
    """What is not as the schema has it, one text each."""
    if "$ref" in rule:
        yield from violations(value, SCHEMA["definitions"][rule["$ref"].rpartition("/")[2]], where)
        return
    if "const" in rule and value != rule["const"]:
        yield f"{where}: {value!r} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{where}: {value!r} is none of {rule['enum']}"
    types = rule.get("type", [])
    if types and not any(has_type(value, name) for name in ([types] if isinstance(types, str) else types)):
        yield f"{where}: {value!r} is not {types}"
        return
    if isinstance(value, (int, float)) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        yield f"{where}: {value} is out of range"
    if isinstance(value, list):
        for i, element in enumerate(value):
            yield from violations(element, rule.get("items", {}), f"{where}[{i}]")
    if isinstance(value, dict):
        yield from (f"{where}: no {name}" for name in rule.get("required", []) if name not in value)
        for name, member in value.items():
            if name in rule.get("properties", {}):
                yield from violations(member, rule["properties"][name], f"{where}.{name}")
            else:
                yield f"{where}.{name}: not in the schema"


def with_defaults(element, definition):
    rules = SCHEMA["definitions"][definition]["properties"]
    return {**{name: rule["default"] for name, rule in rules.items() if "default" in rule}, **element}


def everywhere(coefficients, constant):
    """The value of a function that is the same everywhere, else None."""
    return constant if all(coefficient == 0 for coefficient in coefficients) else None


def complete_access(access):
    access = with_defaults(access, "access")
    offset = everywhere(access["coefficients"], access["constant"])
    block = everywhere(access["block_coefficients"], access["block_constant"])
    defaults = {"minimum": offset, "maximum": offset, "block_minimum": block, "block_maximum": block}
    return {**defaults, **access}


def complete_dependence(dependence):
    distance = dependence["distance"]
    bounds = [] if distance is None or None in distance else distance
    defaults = {"distance_minimum": bounds, "distance_maximum": bounds,
                "carried": [{"node": None, "count": dependence["count"]}]}
    dependence = {**defaults, **with_defaults(dependence, "dependence")}
    dependence["uses"] = [with_defaults(use, "use") for use in dependence["uses"]]
    return dependence


COMPLETE = {"statements": lambda element: with_defaults(element, "statement"),
            "values": lambda element: with_defaults(element, "value"),
            "accesses": complete_access, "dependences": complete_dependence}


class Profile:
    def __init__(self, text):
        self.text = text
        self.plain = json.loads(text)  # as it stands there
        self.document = {name: [COMPLETE[name](element) for element in value] if name in COMPLETE else value
                         for name, value in self.plain.items()}

    def __getattr__(self, name):
        return self.document[name]

    def at(self, section, line, key="source", **wanted):
        """Elements whose source (or one of whose sources) is this line of the program's own file."""
        def is_it(source):
            return source is not None and source["line"] == line and source["file"].endswith("kernel.c")
        def matches(element):
            sources = element[key]
            return (any(map(is_it, sources)) if isinstance(sources, list) else is_it(sources)) and all(
                element[name] == value for name, value in wanted.items())
        return [element for element in self.document[section] if matches(element)]

    def gave_up_on(self, pattern):
        return [entry for entry in self.gave_up if re.search(pattern, f"{entry['what']}: {entry['why']}")]

    def has_quality(self, kind):
        return any(entry["kind"] == kind for entry in self.quality)


def analyze(suite, name, trace, *options, status=0):
    """Runs `loopfold analyze`; the profile, or None (with a failed check)."""
    path = os.path.join(trace, "profile.json")
    if os.path.exists(path):
        os.remove(path)
    result = lf.run([lf.LOOPFOLD, "analyze", trace, *options])
    if not suite.check(f"{name}: analyze", result.status == status and os.path.exists(path), result):
        return None
    return load(suite, name, path)


def load(suite, name, path):
    with open(path) as file:
        profile = Profile(file.read())
    wrong = list(violations(profile.plain)) + list(violations(profile.document))
    suite.check(f"{name}: as the schema has it", not wrong, "\n".join(wrong[:10]))
    return profile


def build(directory, name, source, *options):
    """Compiles a C program; its file is called kernel.c."""
    folder = os.path.join(directory, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "kernel.c"), "w") as file:
        file.write(source)
    program = os.path.join(folder, "program")
    built = lf.run(["gcc", "-g", "-O1", *options, os.path.join(folder, "kernel.c"), "-o", program])
    if built.status != 0:
        raise RuntimeError(str(built))
    return program


def lines(source):
    """Tag -> line: `// @tag` at the end of a line."""
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        match = re.search(r"// @(\w+)$", line)
        if match:
            found[match.group(1)] = number
    return found


def record(suite, directory, name, program, *arguments, options=("--quiet",), **more):
    trace = os.path.join(directory, name)
    result = lf.record(trace, [program, *arguments], options=options, **more)
    suite.check(f"{name}: recorded", result.status == 0, result)
    return trace
