import IO
import Rules
import Synchronization
import TLS

/// The files that trust depends on: the system's CA certificates, those of rules, and the revocation lists of routes.
/// Changed files are read again. A file that can no longer be read keeps its last content. The system's CA certificates
/// are many; they are read when they are first needed.
public final class TrustSources: Sendable {
    /// A problem of a file that trust depends on: it has no content, or not the newest, or covers less than it seems.
    /// Content that was read before stays in use.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        case unreadable(path: String, FileError)
        case damaged(path: String, Certificate.Failure)
        /// The system's CA certificates cannot be read.
        case anchors(String)
        case deltaList(path: String)
        /// A certificate of a server or an issuer counted as not revoked because no list covers it.
        case unlisted(certificate: String, issuer: String, paths: [String])

        public var description: String {
            switch self {
            case .unreadable(let path, .tooLarge): "cannot read \(path): it is larger than \(TrustSources.limit) bytes"
            case .unreadable(let path, .system(let errno)): "cannot read \(path): \(IOError.sentence(for: errno))"
            case .damaged(let path, let error): "cannot use \(path): \(error)"
            case .anchors(let sentence): sentence
            case .deltaList(let path):
                "\(path) has a delta list, which is ignored: certificates that only this list names count as not revoked"
            case .unlisted(let certificate, let issuer, let paths):
                "no revocation list of \(issuer) in \(paths.joined(separator: " ")): what it issued, as \(certificate), counts "
                    + "as not revoked"
            }
        }
    }

    /// The revocation lists of a route were never read, so the state of every certificate is unknown.
    public struct UnreadLists: Error {}

    /// An empty set, used for CA certificates that were never read.
    private let none: TrustAnchors
    private let terms: [Configuration.TrustTerms]
    private let listPaths: [[String]]
    private let state = Mutex(State())

    private struct State {
        var system: TrustAnchors?
        /// The reason why the system's CA certificates could not be read when they were last needed.
        var systemError: Failure?
        var anchors: [Configuration.TrustTerms: Read<TrustAnchors>] = [:]
        var lists: [[String]: Read<FoundLists>] = [:]
        /// The first certificate of each issuer for which a list was searched and not found.
        var unlisted: [Unlisted: String] = [:]
    }

    private struct FoundLists {
        let lists: RevocationLists
        /// The files with delta lists.
        let deltas: [String]
    }

    private struct Unlisted: Hashable {
        let issuer: String
        let paths: [String]
    }

    /// The content made from files, with the stamps of the files; nil if they could not be used.
    private struct Read<Content: Sendable> {
        var stamps: [SmallFile.Stamp?] = []
        var content: Content?
        var error: Failure?
    }

    /// The limit of reported issuers without a list.
    private static let unlistedLimit = 64

    /// The limit of one file, in bytes.
    public static let limit = 64 * 1024 * 1024

    /// Creates the sources without reading: call `refresh` first, and `prepare` before each chain is judged.
    public init(_ rules: RuleSet) throws(TrustAnchors.Failure) {
        none = try TrustAnchors(only: [])
        terms = rules.configuration.challenges.compactMap { challenge in
            if case .trust(let terms) = challenge.action, !terms.anchors.isEmpty { terms } else { nil }
        }
        listPaths = rules.configuration.routes.compactMap(\.tls?.revocation).filter { !$0.isEmpty }
    }

    /// Reads the system's CA certificates if that was not done yet.
    public func prepare() async {
        if hasSystem { return }
        await BlockingPool.shared.run { self.readSystem() }
    }

    /// Reads the system's CA certificates if that was not done yet. Blocks: never call it on a loop.
    public func readSystem() {
        if hasSystem { return }
        do throws(TrustAnchors.Failure) {
            let system = try TrustAnchors.system()
            state.withLock { state in
                state.system = state.system ?? system
                state.systemError = nil
            }
        } catch { state.withLock { $0.systemError = .anchors("\(error)") } }
    }

    /// Whether the system's CA certificates were read.
    var hasSystem: Bool { state.withLock { $0.system != nil } }

    /// Reads the files that have changed. Blocks: never call it on a loop.
    public func refresh() -> [Failure] {
        var errors: [Failure] = []
        // Rules may add to the system's CA certificates. A failed read that was needed before is tried again.
        let isTriedAgain = state.withLock { $0.systemError != nil }
        if isTriedAgain || terms.contains(where: { !$0.hasOnlyItsAnchors }) { readSystem() }
        if let error = state.withLock({ $0.systemError }) { errors.append(error) }
        for terms in terms {
            let last = state.withLock { $0.anchors[terms] }
            let read = Self.renewed(last, of: terms.anchors) { paths throws(Failure) in
                try anchors(terms, from: paths)
            }
            if let error = read.error { errors.append(error) }
            state.withLock { $0.anchors[terms] = read }
        }
        for paths in listPaths {
            let last = state.withLock { $0.lists[paths] }
            let read = Self.renewed(last, of: paths, Self.lists)
            if let error = read.error { errors.append(error) }
            errors += read.content?.deltas.map { .deltaList(path: $0) } ?? []
            state.withLock { $0.lists[paths] = read }
        }
        return errors
            + state.withLock { state in
                state.unlisted.map { .unlisted(certificate: $1, issuer: $0.issuer, paths: $0.paths) }
            }
    }

    /// Notes that a chain is trusted although the requested lists do not cover all its certificates. The next `refresh`
    /// reports it, once for each issuer.
    public func note(unlisted certificates: [Certificate], by terms: Configuration.TLSTerms?) {
        guard !certificates.isEmpty, let paths = terms?.revocation else { return }
        state.withLock { state in
            for certificate in certificates where state.unlisted.count < Self.unlistedLimit {
                let issuer = certificate.issuer.map { String("\($0)".prefix(200)) } ?? "nobody"
                let key = Unlisted(issuer: issuer, paths: paths)
                if state.unlisted[key] == nil { state.unlisted[key] = "\(certificate)" }
            }
        }
    }

    /// The CA certificates of a rule's terms, or the system's. Those that were never read are missing.
    public func anchors(for terms: Configuration.TrustTerms?) -> TrustAnchors {
        state.withLock { state in
            guard let terms, !terms.anchors.isEmpty else { return state.system }
            return state.anchors[terms]?.content ?? (terms.hasOnlyItsAnchors ? nil : state.system)
        } ?? none
    }

    /// The current revocation lists of a route; nil if it names none.
    public func revocation(for terms: Configuration.TLSTerms?) throws(UnreadLists) -> RevocationLists? {
        guard let paths = terms?.revocation, !paths.isEmpty else { return nil }
        guard let lists = state.withLock({ $0.lists[paths]?.content?.lists }) else { throw UnreadLists() }
        return lists
    }

    // MARK: - Files

    private static func renewed<Content>(
        _ last: Read<Content>?, of paths: [String], _ read: ([String]) throws(Failure) -> Content
    ) -> Read<Content> {
        // Stamped before reading, so that a later change is read the next time.
        let stamps = paths.map { SmallFile.Stamp(path: $0) }
        var renewed = last ?? Read()
        if renewed.stamps == stamps, renewed.error == nil { return renewed }
        renewed.stamps = stamps
        do throws(Failure) {
            renewed.content = try read(paths)
            renewed.error = nil
        } catch { renewed.error = error }
        return renewed
    }

    private func anchors(_ terms: Configuration.TrustTerms, from paths: [String]) throws(Failure)
        -> TrustAnchors
    {
        var certificates: [Certificate] = []
        for path in paths {
            let bytes = try Self.content(of: path)
            do throws(Certificate.Failure) {
                certificates += try Certificate.all(in: bytes.span)
            } catch { throw .damaged(path: path, error) }
        }
        let system = state.withLock { $0.system }
        do throws(TrustAnchors.Failure) {
            guard !terms.hasOnlyItsAnchors, let system else { return try TrustAnchors(only: certificates) }
            return try system.adding(certificates)
        } catch { throw .anchors("\(error)") }
    }

    private static func lists(from paths: [String]) throws(Failure) -> FoundLists {
        var files: [[UInt8]] = []
        var deltas: [String] = []
        for path in paths {
            let bytes = try content(of: path)
            // Parses each file alone, so that the error names the damaged one.
            do throws(Certificate.Failure) {
                if try RevocationLists(files: [bytes]).deltaCount > 0 { deltas.append(path) }
            } catch { throw .damaged(path: path, error) }
            files.append(bytes)
        }
        do throws(Certificate.Failure) {
            return FoundLists(lists: try RevocationLists(files: files), deltas: deltas)
        } catch {
            throw .damaged(path: paths.joined(separator: " "), error)
        }
    }

    private static func content(of path: String) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try SmallFile.read(path, limit: limit) } catch {
            throw .unreadable(path: path, error)
        }
    }
}
