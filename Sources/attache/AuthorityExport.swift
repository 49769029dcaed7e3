import IO
import TLS

/// The authority's certificate on its way to those who are to trust it.
struct AuthorityExport {
    enum Format: String, CaseIterable {
        case pem
        case der
        case p12TrustStore = "p12-truststore"

        var isText: Bool { self == .pem }
    }

    let certificate: Certificate
    let format: Format
    /// Nil: standard output.
    let output: String?

    func write() throws(CommandError) {
        let bytes = try encoded()
        if let output {
            do throws(IOError) {
                try DurableFile.write(bytes.span, to: output, mode: 0o644)
            } catch { throw .failed("\(error)") }
        } else if !format.isText, Terminal.isStandardOutput {
            throw .failed("\(format.rawValue) is not for a terminal: say where it goes with --output FILE")
        } else if OutputFile.standardOutput.write(bytes) != .all {
            throw .failed("standard output takes no more")
        }
        if Terminal.isStandardError { Console.write(hints) }
    }

    private func encoded() throws(CommandError) -> [UInt8] {
        switch format {
        case .pem: return Array(certificate.pem.utf8)
        case .der: return certificate.der
        case .p12TrustStore:
            guard let bytes = JavaTrustStore.encode(certificate, password: Self.password) else {
                throw .failed("OpenSSL cannot make the truststore")
            }
            return bytes
        }
    }

    /// Of every truststore that comes with Java; there is nothing secret in one.
    private static let password = "changeit"

    private var hints: String {
        let file = output ?? (format.isText ? "attache-ca.pem" : "FILE")
        let uses =
            switch format {
            case .pem, .der:
                format.isText ? Self.uses(ofPEM: file) : "  Windows, Java and Android import \(file) as it is."
            case .p12TrustStore:
                """
                  Java   -Djavax.net.ssl.trustStore=\(file) -Djavax.net.ssl.trustStorePassword=\(Self.password)
                         takes it in the place of its own authorities
                """
            }
        return """

            \(certificate)
            valid until \(certificate.lastDay), SHA-256 \(certificate.fingerprint)
            Whoever trusts it believes what this proxy says of any server. How clients come to do so:

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

        These take a file in the place of the system's authorities; for both of them make one:
        cat /etc/ssl/certs/ca-certificates.crt \(file) > bundle.pem

          OpenSSL, Go, Ruby    SSL_CERT_FILE=bundle.pem
          curl                 CURL_CA_BUNDLE=bundle.pem
          Python requests, pip REQUESTS_CA_BUNDLE=bundle.pem
          git                  GIT_SSL_CAINFO=bundle.pem
        """
    }
}
