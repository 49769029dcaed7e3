import Bytes
import Credentials
import IO
import Rules
import TLS

/// The command `attache authority`: exports or replaces the CA of intercepted tunnels.
struct AuthorityCommand: Command {
    static let syntax = CommandSyntax(
        name: "authority", summary: "export or renew the CA for intercepted https",
        operands: [CommandOperand(name: "ACTION", choices: Action.allCases.map(\.rawValue))],
        options: [
            CommandOption.config,
            CommandOption(
                name: "format", value: "FORMAT",
                summary: ["pem (default), der, or p12-truststore for Java"],
                choices: Export.Format.allCases.map(\.rawValue)),
            CommandOption(
                name: "output", value: "FILE",
                summary: ["the file to write; default: standard output"]),
        ],
        details: """
            ACTION is 'export' or 'renew'.

                attache authority export > attache-ca.pem

            'export' writes the CA certificate, for clients to trust. If there is none yet, it is created. The
            password of a p12-truststore is changeit, as Java expects.

            'renew' makes a new certificate with a new key, and keeps the old certificate as ca.old.pem. A
            running proxy uses it at once, and its clients must trust the new one from then on. A CA of your
            own, named by 'authority' in the rule file, must be renewed where it was made.
            """)

    private enum Action: String, CaseIterable {
        case export, renew
    }

    private let action: Action
    private let store: CAStore
    private let format: Export.Format
    private let output: String?

    init(_ arguments: Arguments) throws(CommandError) {
        action = try arguments.choice("action", arguments.operand(0) ?? "")
        format = try arguments.choice("format", arguments.value(of: "format") ?? Export.Format.pem.rawValue)
        output = arguments.value(of: "output")
        if action == .renew, arguments.value(of: "format") ?? output != nil {
            throw arguments.error("--format and --output are for 'export' only")
        }
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        guard let store = CAStore(try RuleFile.read(path).valid()) else {
            throw .configuration(StatePath.unknown(for: "the authority"))
        }
        self.store = store
    }

    func run() throws(CommandError) -> Int32 {
        switch action {
        case .export:
            let certificate = try CommandError.failing { try store.certificate() }
            try Export(certificate: certificate, format: format, output: output).write()
        case .renew: try renew()
        }
        return ExitStatus.success
    }

    private func renew() throws(CommandError) {
        if case .files(let certificate, _, _) = store.place {
            throw .configuration("the CA \(certificate) is your own: renew it where it was made")
        }
        let certificate = try CommandError.failing {
            try store.renew()
            return try store.certificate()
        }
        Console.print("new CA: \(certificate), valid until \(certificate.lastDay)")
        Console.error(
            "a running proxy uses it at once; its clients must trust it: attache authority export")
    }

    /// Exports the CA certificate for clients that must trust it.
    private struct Export {
        enum Format: String, CaseIterable {
            case pem
            case der
            case p12TrustStore = "p12-truststore"
        }

        let certificate: Certificate
        let format: Format
        /// The output file; nil for standard output.
        let output: String?

        func write() throws(CommandError) {
            let bytes = try encoded()
            if let output {
                try CommandError.failing { try DurableFile.write(bytes.span, to: output, mode: 0o644) }
            } else if format != .pem, Terminal.isStandardOutput {
                throw .failed("\(format.rawValue) cannot go to a terminal: use --output FILE")
            } else if OutputFile.standardOutput.write(bytes) != .all {
                throw .failed("cannot write to standard output")
            }
            if Terminal.isStandardError { Console.write(hints) }
        }

        private func encoded() throws(CommandError) -> [UInt8] {
            switch format {
            case .pem: return Array(certificate.pem.utf8)
            case .der: return certificate.der
            case .p12TrustStore:
                guard let bytes = JavaTrustStore.encode(certificate, password: ToolFiles.javaPassword) else {
                    throw .failed("OpenSSL cannot make the truststore")
                }
                return bytes
            }
        }

        private var hints: String {
            let file = output ?? (format == .pem ? "attache-ca.pem" : "FILE")
            let uses =
                switch format {
                case .pem: Self.uses(ofPEM: file)
                case .der: "  Windows, Java and Android import \(file) unchanged."
                case .p12TrustStore:
                    """
                      Java   -Djavax.net.ssl.trustStore=\(file) -Djavax.net.ssl.trustStorePassword=\(ToolFiles.javaPassword)
                             replaces Java's own CAs
                    """
                }
            return """

                \(certificate)
                valid until \(certificate.lastDay), SHA-256 \(certificate.fingerprint)
                A client that trusts this CA accepts this proxy's certificate for any server (or for its 'names').
                To trust it:

                \(uses)

                """
        }

        private static func uses(ofPEM file: String) -> String {
            """
              Debian, Ubuntu       cp \(file) /usr/local/share/ca-certificates/attache.crt && update-ca-certificates
              Fedora               cp \(file) /etc/pki/ca-trust/source/anchors/ && update-ca-trust
              Node                 NODE_EXTRA_CA_CERTS=\(file)
              Deno                 DENO_CERT=\(file)
              Java                 keytool -importcert -noprompt -cacerts -storepass changeit -alias attache -file \(file)

            These replace the system's CAs by a file. Make one that has both:
            cat /etc/ssl/certs/ca-certificates.crt \(file) > bundle.pem

              OpenSSL, Go, Ruby    SSL_CERT_FILE=bundle.pem
              curl                 CURL_CA_BUNDLE=bundle.pem
              Python requests, pip REQUESTS_CA_BUNDLE=bundle.pem
              git                  GIT_SSL_CAINFO=bundle.pem
            """
        }
    }
}
