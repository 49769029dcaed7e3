"""Holds an image's labels and its bill of materials (SPDX 2.3) against each other and against the program's version.

    described.py LABELS.json SBOM.json "attache VERSION"
"""

import json
import re
import sys

labels = json.load(open(sys.argv[1]))
bill = json.load(open(sys.argv[2]))
version = sys.argv[3].split()[-1]
faults = []


def expect(holds, sentence):
    if not holds:
        faults.append(sentence)


prefix = "org.opencontainers.image."
expect(labels.get(prefix + "version") == version, f"the label's version is {labels.get(prefix + 'version')}")
for name in ("title", "description", "licenses", "revision"):
    expect(labels.get(prefix + name), f"no label {name}")

expect(bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0", "not SPDX 2.3")
expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]), "no time of creation")
packages = {package["SPDXID"]: package for package in bill["packages"]}
expect(len(packages) == len(bill["packages"]), "two packages have one identifier")
for identifier, package in packages.items():
    expect(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identifier), f"{identifier} is no identifier")
    for field in ("name", "versionInfo", "supplier", "downloadLocation", "licenseDeclared"):
        expect(package.get(field), f"{identifier} has no {field}")
known = {"SPDXRef-DOCUMENT", *packages}
relations = {(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in bill["relationships"]}
for source, _, target in relations:
    expect(source in known and target in known, f"a relationship of {source} and {target}, of which one is unknown")
linked = {packages[target]["name"] for source, kind, target in relations if kind == "DYNAMIC_LINK"}
expect({"libc6", "libssl3", "libstdc++6", "libsqlite3-0"} <= linked, f"linked are only {sorted(linked)}")
contained = {target for source, kind, target in relations if source == "SPDXRef-image" and kind == "CONTAINS"}
program = packages.get("SPDXRef-attache", {})
expect(program.get("versionInfo") == version, "the program has another version")
expect(re.fullmatch(r"[0-9a-f]{64}", program.get("checksums", [{}])[0].get("checksumValue", "")), "it has no checksum")
expect(("SPDXRef-attache", "STATIC_LINK", "SPDXRef-swift") in relations, "Swift's library is missing")
for identifier in packages:
    expect(identifier in contained or identifier in ("SPDXRef-image", "SPDXRef-swift"), f"{identifier} is not contained")
expect("ca-certificates" in {package["name"] for package in packages.values()}, "there are no authorities")

for sentence in faults:
    print(sentence)
sys.exit(bool(faults))
