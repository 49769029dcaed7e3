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

    @Test(.enabled(if: hasYAML, "python3-yaml is not installed here"))
    func `the compose file is YAML`() throws {
        let words = "import sys, yaml; assert yaml.safe_load(sys.stdin)"
        let result = try AttacheProgram.run("attache deploy compose | python3 -c '\(words)'", in: Folder())
        #expect(result.status == 0, "\(result)")
    }

    @Test(.enabled(if: hasYAML, "python3-yaml is not installed here"), arguments: ["--sidecar", "--service"])
    func `a manifest has fields that Kubernetes knows, names that lead somewhere, and no right`(form: String) throws {
        let check = "attache deploy kubernetes \(form) --name web | python3 '\(Self.reader)'"
        let result = try AttacheProgram.run(check, in: Folder())
        #expect(result.status == 0, "\(result)")
    }

    @Test(
        .enabled(if: hasYAML, "python3-yaml is not installed here"),
        arguments: [
            ("s/periodSeconds/periodSecond/", "containers[0].startupProbe has no field periodSecond"),
            ("s/averageUtilization: 70/averageUtilization: 70%/", "averageUtilization is '70%'"),
            ("s/targetPort: admin/targetPort: metrics/", "the Service leads to {'metrics'}, which is no port"),
            ("s/port: admin, path/port: metrics, path/", "the monitor asks a port that is none"),
            ("s/drop: .ALL./drop: [NET_RAW]/", "attache keeps capabilities"),
            ("s/name: tmp, mountPath/name: temp, mountPath/", "attache mounts {'temp'}, which is no volume"),
        ])
    func `a mistake in a manifest is found`(edit: String, sentence: String) throws {
        let check = "attache deploy kubernetes --service | sed '\(edit)' | python3 '\(Self.reader)'"
        let result = try AttacheProgram.run(check, in: Folder())
        #expect(result.status == 1 && result.output.contains(sentence), "\(result)")
    }

    /// The variables of the application in a manifest are those of `attache env`, with the files where it writes them.
    @Test(
        .enabled(if: hasYAML, "python3-yaml is not installed here"),
        arguments: [
            ("kubernetes", "{e['name']: e['value'] for e in d[1]['spec']['template']['spec']['containers'][0]['env']}"),
            ("compose", "d[0]['services']['app']['environment']"),
        ])
    func `an application gets every variable that a shell gets`(place: String, expression: String) throws {
        let words = """
            import sys, yaml
            d = list(yaml.safe_load_all(sys.stdin))
            for name, value in \(expression).items(): print(f"{name}={value}")
            """
        let folder = try Folder(["proxy.conf": "state st\nroute * { intercept }\n", "variables.py": words])
        let given = try AttacheProgram.run("attache deploy \(place) | python3 variables.py | sort", in: folder)
        let printed = try AttacheProgram.run(
            "attache env --shell docker --directory trust | grep -v '^#' | sed \"s|$PWD/trust|/etc/ssl/attache|\" | sort",
            in: folder)
        #expect(given.output == printed.output)
        #expect(given.output.contains("SSL_CERT_FILE=/etc/ssl/attache/tools.pem\n"), "\(given)")
    }

    /// It uses the path of the existing binary; the manual pages may be missing.
    @Test(.enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "there is no systemd-analyze here"))
    func `systemd takes both units`() throws {
        let result = try AttacheProgram.run(
            """
            attache deploy systemd --program /bin/sh > attache.service
            attache deploy systemd --socket > attache.socket
            systemd-analyze verify --man=no ./attache.service ./attache.socket
            """, in: try Folder())
        #expect(result.status == 0 && result.output + result.errorOutput == "", "\(result)")
    }

    @Test(.enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "there is no systemd-analyze here"))
    func `systemd finds no mistake in the unit, and little that it may do`() throws {
        let folder = try Folder()
        let result = try AttacheProgram.run(
            "attache deploy systemd > attache.service && systemd-analyze security --offline=yes --threshold=20 attache.service",
            in: folder)
        #expect(result.status == 0, "\(result)")
    }

    private static let hasYAML = access("/usr/lib/python3/dist-packages/yaml", R_OK) == 0
    private static let reader = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../containers/manifest.py").path
}
