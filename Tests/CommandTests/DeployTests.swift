import Foundation
import Testing

/// `attache deploy`: the rule files inside of its manifests.
struct DeployTests {
    @Test(arguments: ["--sidecar", "--service"])
    func `the rule file in a manifest is one`(form: String) throws {
        let empty = try Folder()
        let manifest = try AttacheProgram.run("attache deploy kubernetes \(form)", in: empty).output
        let lines = manifest.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "  proxy.conf: |")) + 1
        let rules = lines[start...].prefix { $0 != "---" }.map { $0.dropFirst(4) }.joined(separator: "\n") + "\n"
        let folder = try Folder(["proxy.conf": rules])
        let result = try AttacheProgram.run("attache check", in: folder)
        #expect(result.status == 0, "\(result)")
    }

    @Test(
        .enabled(if: access("/usr/lib/python3/dist-packages/yaml", R_OK) == 0, "python3-yaml is not installed here"),
        arguments: ["compose", "kubernetes --sidecar", "kubernetes --service"])
    func `a manifest is YAML`(form: String) throws {
        let folder = try Folder()
        let words = """
            import sys, yaml
            for part in yaml.safe_load_all(sys.stdin): assert part
            """
        let result = try AttacheProgram.run("attache deploy \(form) | python3 -c '\(words)'", in: folder)
        #expect(result.status == 0, "\(result)")
    }

    @Test(.enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "there is no systemd-analyze here"))
    func `systemd finds no mistake in the unit, and little that it may do`() throws {
        let folder = try Folder()
        let result = try AttacheProgram.run(
            "attache deploy systemd > attache.service && systemd-analyze security --offline=yes --threshold=20 attache.service",
            in: folder)
        #expect(result.status == 0, "\(result)")
    }
}
