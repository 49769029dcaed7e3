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
            ("s/- port: admin/- port: metrics/", "the monitor asks a port that is none"),
            ("s/drop: .ALL./drop: [NET_RAW]/", "attache keeps capabilities"),
            ("s/name: tmp, mountPath/name: temp, mountPath/", "attache mounts {'temp'}, which is no volume"),
        ])
    func `a mistake in a manifest is found`(edit: String, sentence: String) throws {
        let check = "attache deploy kubernetes --service | sed '\(edit)' | python3 '\(Self.reader)'"
        let result = try AttacheProgram.run(check, in: Folder())
        #expect(result.status == 1 && result.output.contains(sentence), "\(result)")
    }

    @Test(.enabled(if: hasYAML, "python3-yaml is not installed here"))
    func `image, namespace, host and the rule file take the place of the examples`() throws {
        let rules = """
              # Mine.
            listen 0.0.0.0:3128
            admin 0.0.0.0:3127
            clients { allow 10.0.0.0/8 }

            egress { deny any; allow 10.0.0.0/8; deny 10.9.0.0/16; allow 192.0.2.7:8443 }
            """
        let folder = try Folder(["proxy.conf": rules])
        let result = try AttacheProgram.run(
            """
            attache deploy kubernetes --service --config proxy.conf --namespace ci --image r.example/a/attache:0.1 > all.yaml
            python3 '\(Self.reader)' < all.yaml
            python3 -c 'import yaml
            documents = {d["kind"]: d for d in yaml.safe_load_all(open("all.yaml"))}
            print({d["metadata"]["namespace"] for d in documents.values()})
            print(documents["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"])
            print(documents["ConfigMap"]["data"]["proxy.conf"] == open("proxy.conf").read().lstrip() + "\\n")
            print(*documents["NetworkPolicy"]["spec"]["egress"][2:], sep="\\n")'
            attache deploy kubernetes --host lab.example.com | grep -c 'lab.example.com'
            attache deploy kubernetes --host lab.example.com | grep -c 'ci.example.com'
            attache deploy compose --image r.example/attache:1 | grep 'r.example'
            """, in: folder)
        #expect(
            result.output == """
                {'ci'}
                r.example/a/attache:0.1
                True
                {'to': [{'ipBlock': {'cidr': '10.0.0.0/8', 'except': ['10.9.0.0/16']}}], 'ports': [{'protocol': 'TCP'}]}
                {'to': [{'ipBlock': {'cidr': '192.0.2.7/32'}}], 'ports': [{'protocol': 'TCP', 'port': 8443}]}
                3
                0
                  image: r.example/attache:1

                """, "\(result)")
    }

    @Test(arguments: ["*.example.com", "a..b", "ci.example.com:8080", "a b", ""])
    func `a host is the name of one server`(host: String) throws {
        let result = try AttacheProgram.run("attache deploy kubernetes --host '\(host)'", in: try Folder([:]))
        #expect(result.status != 0 && result.output.isEmpty, "\(result)")
        #expect(result.errorOutput.contains("'--host' is the name of a server without a port"), "\(result)")
    }

    @Test(arguments: [
        ("--service", "listen 127.0.0.1:3128\nadmin 127.0.0.1:3127\n", "needs 'listen 0.0.0.0:3128'"),
        ("--sidecar", "listen 127.0.0.1:3129\nadmin 127.0.0.1:3127\n", "needs 'listen 127.0.0.1:3128'"),
        ("--service", "listen 0.0.0.0:3128\n", "and 'admin 0.0.0.0:3127'"),
        ("--service", "lisen 0.0.0.0:3128\n", "unknown directive 'lisen'"),
        ("--service", "include other.conf\n", "includes other files"),
    ])
    func `a rule file that does not fit the manifest is refused`(form: String, rules: String, sentence: String) throws {
        let folder = try Folder(["proxy.conf": rules, "other.conf": "listen 0.0.0.0:3128\nadmin 0.0.0.0:3127\n"])
        let result = try AttacheProgram.run("attache deploy kubernetes \(form) --config proxy.conf", in: folder)
        #expect(result.status != 0 && result.output.isEmpty && result.errorOutput.contains(sentence), "\(result)")
    }

    /// The templates of the chart, filled in with its values by the few functions that they use, are the manifests.
    @Test(
        .enabled(if: hasYAML, "python3-yaml is not installed here"),
        arguments: ["", "listen 0.0.0.0:3128\nadmin 0.0.0.0:3127\negress { deny any }\n"])
    func `a chart renders to the same manifests`(rules: String) throws {
        let folder = try Folder(["proxy.conf": rules, "render.py": Self.renderer])
        let config = rules.isEmpty ? "" : "--config proxy.conf"
        let result = try AttacheProgram.run(
            """
            attache deploy kubernetes --helm chart --image r.example/attache:1 \(config)
            attache deploy kubernetes --service --name web --image r.example/attache:1 \(config) > all.yaml
            python3 render.py chart web all.yaml
            attache deploy kubernetes --helm chart && echo overwritten
            """, in: folder)
        #expect(
            result.output == """
                written: chart/Chart.yaml, chart/values.yaml, chart/templates/manifests.yaml, chart/templates/NOTES.txt
                v2 attache application
                True
                NOTES True

                """, "\(result)")
        #expect(result.errorOutput.contains("cannot write chart/Chart.yaml"), "\(result)")
    }

    private static let renderer = #"""
        import re, sys, yaml
        chart, release, manifests = sys.argv[1:]
        values = yaml.safe_load(open(f"{chart}/values.yaml"))
        def indent(text, width): return "\n".join(" " * width + line for line in text.split("\n"))
        def value(path, dot):
            if path == ".": return dot
            if path == ".Release.Name": return release
            found = re.fullmatch(r"\.Values\.(\w+)", path)
            return values[found[1]]
        def render(template, dot=None):
            def block(part):
                inner = value(part[1], dot)
                return render(part[2], inner) if inner else ""
            template = re.sub(r"\n*\{\{- with (\S+) \}\}(.*?)\n*\{\{- end \}\}", block, template, flags=re.S)
            def expression(part):
                words = [word.split() for word in part[1].split("|")]
                first = words[0]
                text = value(first[-1], dot)
                if first[0] == "toYaml": text = yaml.safe_dump(text).rstrip("\n")
                for function, *arguments in words[1:]:
                    if function == "quote": text = '"%s"' % text
                    elif function == "indent": text = indent(text, int(arguments[0]))
                    else: raise SystemExit(f"unknown function {function}")
                return str(text)
            return re.sub(r"\{\{ (.*?) \}\}", expression, template)
        about = yaml.safe_load(open(f"{chart}/Chart.yaml"))
        print(about["apiVersion"], about["name"], about["type"])
        made = list(yaml.safe_load_all(render(open(f"{chart}/templates/manifests.yaml").read())))
        wanted = list(yaml.safe_load_all(open(manifests)))
        print(made == wanted)
        for one, other in zip(made, wanted):
            if one != other: print(one, other, sep="\n")
        print("NOTES", "kubectl create secret generic web-secrets" in render(open(f"{chart}/templates/NOTES.txt").read()))
        """#

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
