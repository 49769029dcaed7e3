import Bytes
import IO
import Rules

extension DeployCommand {
    /// The manifests of `attache deploy kubernetes`, made of a form that comes with the program.
    struct Manifest {
        /// The names and values that take the place of the examples; nil: the example stays.
        struct Values {
            var name = "attache"
            var image: String?
            var namespace: String?
            var host: String?
            /// The content of a rule file.
            var rules: RuleText?
        }

        /// A rule file as text.
        struct RuleText {
            let text: String
            let configuration: Configuration

            /// Reads a rule file for a manifest.
            ///
            /// - Parameter isService: whether clients reach the proxy from other pods.
            init(_ path: String, isService: Bool) throws(CommandError) {
                let file = try RuleFile.read(path)
                guard let configuration = file.configuration else { throw .rules(report: file.report) }
                self.configuration = configuration
                guard file.sources.files.count == 1 else {
                    throw .failed("\(path) includes other files: a manifest needs all rules in one file")
                }
                let bytes: [UInt8]
                do throws(FileError) { bytes = try SmallFile.read(path, limit: Self.limit) } catch {
                    throw .failed("cannot read \(path), or it is larger than \(Self.limit >> 10) KiB")
                }
                guard let text = String(validating: bytes, as: UTF8.self),
                    text.unicodeScalars.allSatisfy({ $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F })
                else { throw .failed("\(path) has a tab or another control character, which a manifest cannot hold") }
                // The first line of a block in YAML sets the indentation.
                self.text = String(text.drop { $0 == " " || $0 == "\n" }) + (text.hasSuffix("\n") ? "" : "\n")
                let addresses =
                    configuration.listeners.compactMap(\.endpoint) + [configuration.admin].compactMap(\.self)
                let loopback = AddressClass.loopback.prefixes
                guard configuration.listeners.contains(where: { $0.endpoint?.port == 3128 }),
                    configuration.admin?.port == 3127,
                    !isService || !addresses.contains(where: { $0.isAt(loopback) })
                else {
                    let address = isService ? "0.0.0.0" : "127.0.0.1"
                    throw .failed(
                        "\(path) needs 'listen \(address):3128' and 'admin \(address):3127' for this manifest")
                }
            }

            /// The rules of a form.
            fileprivate init(form text: String) throws(CommandError) {
                self.text = text
                let path = "/etc/attache/proxy.conf"
                let file = try RuleFile.read(path, from: RuleFileEdit.Draft(path: path, text: Array(text.utf8)))
                guard let configuration = file.configuration else { throw .rules(report: file.report) }
                self.configuration = configuration
            }

            /// The limit of a ConfigMap is 1 MiB.
            private static let limit = 512 << 10

            /// The lines with spaces in front of them.
            fileprivate var indented: String {
                text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n")
            }
        }

        private let form: String
        private let values: Values
        private let rules: RuleText

        /// - Parameter form: the manifests with `@NAME@`, `@EGRESS@` and examples.
        init(_ form: String, _ values: Values) throws(CommandError) {
            guard let start = form.firstRange(of: Self.rulesStart)?.upperBound,
                let end = form[start...].firstRange(of: "\n---\n")?.lowerBound
            else { throw .failed("the form of the manifests has no rule file") }
            let example =
                form[start..<end].split(separator: "\n").map { $0.dropFirst(4) }.joined(separator: "\n") + "\n"
            self.values = values
            if let own = values.rules {
                rules = own
            } else {
                rules = try RuleText(form: Self.replace(Self.host, in: example, by: values.host))
            }
            self.form = String(form[..<start]) + "@RULES@" + form[end...]
        }

        private static let rulesStart = "  proxy.conf: |\n"
        private static let host = "ci.example.com"

        private static func replace(_ example: String, in text: String, by value: String?) -> String {
            value.map { text.replacing(example, with: $0) } ?? text
        }

        /// The manifests.
        var text: String {
            var text = form.replacing("@NAME@", with: values.name)
            text = Self.replace("image: attache:latest", in: text, by: values.image.map { "image: \($0)" })
            text = Self.replace(Self.host, in: text, by: values.host)
            if let namespace = values.namespace {
                text = text.replacing(
                    "\nmetadata:\n  name: \(values.name)\n",
                    with: "\nmetadata:\n  name: \(values.name)\n  namespace: \(namespace)\n")
                text = text.replacing("kubectl ", with: "kubectl --namespace \(namespace) ")
            }
            return text.replacing("@EGRESS@", with: egress(indent: 4)).replacing("@RULES@", with: rules.indented)
        }

        // MARK: - Egress

        /// The rules of a NetworkPolicy for the addresses that `egress` permits.
        private func egress(indent: Int) -> String {
            let blocks = EgressPolicy.Blocks(rules.configuration.egress).blocks
            var ports: [UInt16?] = []
            for block in blocks where !ports.contains(block.port) { ports.append(block.port) }
            let lines = ports.flatMap { port in
                ["- to:"] + blocks.filter { $0.port == port }.map { "    - ipBlock: \(Self.block($0))" }
                    + ["  ports:", "    - { protocol: TCP\(port.map { ", port: \($0)" } ?? "") }"]
            }
            return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
        }

        private static func block(_ block: EgressPolicy.Blocks.Block) -> String {
            let exceptions = block.exceptions.map(cidr).joined(separator: ", ")
            return "{ cidr: \(cidr(block.prefix))\(exceptions.isEmpty ? "" : ", except: [\(exceptions)]") }"
        }

        private static func cidr(_ prefix: AddressPrefix) -> String { "\"\(prefix.address)/\(prefix.length)\"" }

        // MARK: - Helm

        /// The files of a Helm chart, by their paths in its directory. The templates are the same manifests.
        var chart: [(path: String, text: String)] {
            let head = form.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("#") }
            var template = form.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(head.count)
                .joined(separator: "\n")
            for (example, value) in [
                ("@NAME@", "{{ .Release.Name }}"), ("image: attache:latest", "image: {{ .Values.image | quote }}"),
                ("replicas: 3", "replicas: {{ .Values.replicas }}"),
                ("minReplicas: 3", "minReplicas: {{ .Values.replicas }}"),
                ("@EGRESS@", "{{- with .Values.egress }}\n{{ toYaml . | indent 4 }}\n{{- end }}"),
                ("@RULES@", "{{ .Values.rules | indent 4 }}"),
            ] { template = template.replacing(example, with: value) }
            let notes = head.map { $0.dropFirst(2).replacing("@NAME@", with: "{{ .Release.Name }}") + "\n" }.joined()
            let egress = egress(indent: 2)
            return [
                (
                    "Chart.yaml",
                    """
                    apiVersion: v2
                    name: \(values.name)
                    description: An authenticating forward proxy. It answers the logins that servers ask for.
                    type: application
                    version: \(ProgramVersion.text)
                    appVersion: "\(ProgramVersion.text)"

                    """
                ),
                (
                    "values.yaml",
                    """
                    # The image of the proxy.
                    image: \(values.image ?? "attache:latest")
                    # The number of pods, at least. More are started under load, up to ten.
                    replicas: 3
                    # The rule file. 'attache help rules' explains it.
                    rules: |
                    \(rules.indented.replacing("\n    ", with: "\n  ").dropFirst(2))
                    # The addresses that the NetworkPolicy permits. They are those of 'egress' in the rule file: change both.
                    egress:\(egress.isEmpty ? " []" : "\n\(egress)")

                    """
                ),
                ("templates/manifests.yaml", template + "\n"), ("templates/NOTES.txt", notes),
            ]
        }
    }
}

extension Endpoint {
    fileprivate func isAt(_ prefixes: [AddressPrefix]) -> Bool { prefixes.contains { $0.contains(address) } }
}
