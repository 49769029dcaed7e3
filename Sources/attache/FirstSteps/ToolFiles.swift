import Credentials
import IO
import Rules
import TLS

/// Writes the CA certificate in the forms that tools take: alone, and together with the system's root certificates for
/// tools that trust only one file.
struct ToolFiles {
    /// The password of every truststore that comes with Java; the content is not secret.
    static let javaPassword = "changeit"

    private let directory: String
    let certificate: String
    var bundle: String { "\(directory)/tools.pem" }
    var javaStore: String { "\(directory)/tools.p12" }

    /// Writes the files. The CA is created first if it does not exist.
    /// - Parameter said: the directory for the files; nil for that of the CA.
    init(_ configuration: Configuration, in said: String?) throws(CommandError) {
        guard let store = CAStore(configuration), let state = StatePath.find(configuration.state) else {
            throw .configuration(StatePath.unknown(for: "the authority"))
        }
        do throws(IOError) {
            if let said {
                try DurableFile.makeDirectory(said, mode: 0o755)
            } else {
                try DurableFile.makeDirectory(state)
            }
        } catch { throw .failed("\(error)") }
        directory = try WholePath.of(said ?? state)
        let authority = try CommandError.failing { try store.certificate() }
        certificate = said == nil ? try WholePath.of(store.place.certificate) : "\(directory)/attache-ca.pem"
        let system = try Self.system(but: "\(directory)/tools.pem")
        guard let java = JavaTrustStore.encode(authority, others: system, password: Self.javaPassword) else {
            throw .failed("OpenSSL cannot make the truststore")
        }
        do throws(IOError) {
            if said != nil {
                try DurableFile.write(authority.pem.utf8Span.span, to: certificate, mode: 0o644)
            }
            let all = ([authority] + system).map(\.pem).joined()
            try DurableFile.write(all.utf8Span.span, to: bundle, mode: 0o644)
            try DurableFile.write(java.span, to: javaStore, mode: 0o644)
        } catch { throw .failed("\(error)") }
    }

    /// The system's root certificates.
    /// - Parameter own: a file that the proxy has written, which is not the system's though the environment may name
    ///   it.
    private static func system(but own: String) throws(CommandError) -> [Certificate] {
        do throws(TrustAnchors.Failure) {
            let contents = try TrustAnchors.systemContents { name in
                Environment.value(of: name).flatMap { $0 == own ? nil : $0 }
            }
            // A file and a folder may have the same certificates.
            var known: Set<[UInt8]> = []
            return contents.filter { known.insert($0).inserted }.compactMap { try? Certificate(der: $0) }
        } catch { throw .failed("\(error)") }
    }
}
