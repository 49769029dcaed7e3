import Credentials
import IO
import Rules
import TLS

/// The authority's certificate in the forms that tools take: alone, and together with the system's anchors for those that
/// trust one file and no other.
struct ToolFiles {
    /// Of every truststore that comes with Java; there is nothing secret in one.
    static let javaPassword = "changeit"

    private let directory: String
    let certificate: String
    var bundle: String { "\(directory)/tools.pem" }
    var javaStore: String { "\(directory)/tools.p12" }

    /// Writes them. The authority is made first if there is none yet.
    /// - Parameter said: the directory to put them in; nil: beside the authority.
    init(_ configuration: Configuration, in said: String?) throws(CommandError) {
        guard let store = AuthorityStore(configuration), let state = StatePath.find(configuration.state) else {
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
        let authority: Certificate
        do throws(AuthorityProblem) {
            authority = try store.certificate(
                host: Environment.hostName, at: SystemClock.epochMilliseconds / 1000)
        } catch { throw .failed("\(error)") }
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

    /// The system's anchors.
    /// - Parameter own: a bundle of ours, which is not the system's though the environment may name it.
    private static func system(but own: String) throws(CommandError) -> [Certificate] {
        do throws(TrustAnchorsError) {
            let contents = try TrustAnchors.systemContents { name in
                Environment.value(of: name).flatMap { $0 == own ? nil : $0 }
            }
            // A file and a folder may have the same ones.
            var known: Set<[UInt8]> = []
            return contents.filter { known.insert($0).inserted }.compactMap { try? Certificate(der: $0) }
        } catch { throw .failed("\(error)") }
    }
}
