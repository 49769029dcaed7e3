import Bytes
import Crypto
import Model
import Synchronization
import TLS

/// The local CA. It is created if the proxy owns it and it is missing, and read again when its files change. If the
/// files cannot be used, the former CA stays.
public final class CAStore: Sendable {
    public let place: Location
    private let names: [NameConstraint]
    private let files: Files
    private let state = Mutex(State())

    private struct State {
        var leaves: LeafCache?
        /// The digest of the files that were read last, usable or not.
        var digest: UInt128?
        /// The reason why these files could not be used.
        var problem: Problem?
    }

    /// The time before its expiry from which a CA is reported: 30 days.
    private static let notice = Milliseconds.days(30)

    /// Creates the store without reading: call `open` first.
    ///
    /// - Parameters:
    ///   - names: the names for which a new CA may issue certificates; empty: all.
    ///   - environment: the process's environment when the rules were loaded.
    public init(_ place: Location, names: [NameConstraint] = [], environment: [String: String]) {
        self.place = place
        self.names = names
        files = Files(place: place, values: ValueReader(environment: environment))
    }

    /// The leaves of the last usable CA.
    public var leaves: LeafCache? { state.withLock { $0.leaves } }

    /// Reads the CA, after creating it if it is missing. Blocks.
    ///
    /// - Parameter host: the owner of a new CA, for people.
    public func open(host: String, at now: WallTime) throws(Problem) {
        try makeIfMissing(host: host, at: now)
        if let contents = try files.read(waits: true) { try take(contents, at: now) }
    }

    /// Replaces the proxy's CA with a new one and a new key, and keeps the old certificate beside it. Blocks.
    public func renew(host: String, at now: WallTime) throws(Problem) {
        try files.keep(try make(host: host, at: now), replacing: true)
    }

    /// The certificate, for clients that should trust it, after creating the CA if it is missing. The key is not read.
    /// Blocks.
    public func certificate(host: String, at now: WallTime) throws(Problem) -> Certificate {
        try makeIfMissing(host: host, at: now)
        let content = try files.certificate()
        do throws(Certificate.Failure) {
            let certificates = try content.withBytes { bytes throws(Certificate.Failure) in
                try Certificate.all(inPEM: bytes)
            }
            guard let certificate = certificates.first(where: \.maySignCertificates) else {
                throw Certificate.Failure.none
            }
            return certificate
        } catch { throw .unreadable(path: place.certificate, cause: "\(error)") }
    }

    /// Reads the files again if they have changed, and uses them if possible. Blocks: do not call it on a loop.
    ///
    /// - Returns: the current problem, every time until it is solved.
    public func refresh(at now: WallTime) -> Problem? {
        do throws(Problem) {
            if let contents = try files.read(waits: false) { try take(contents, at: now) }
            return warning(at: now)
        } catch { return error }
    }

    private func take(_ contents: Files.Contents, at now: WallTime) throws(Problem) {
        let digest = contents.digest
        let known = state.withLock { $0.digest == digest ? $0 : nil }
        if let known {
            if let problem = known.problem { throw problem }
            return
        }
        do throws(CertificateAuthority.Failure) {
            let leaves = LeafCache(authority: try authority(contents, at: now))
            state.withLock { $0 = State(leaves: leaves, digest: digest, problem: nil) }
        } catch {
            let problem = Problem.unusable(place, error)
            // Not tried again until the files change, since an encrypted key takes long to open. Only `notYetValid` may
            // end by itself.
            if error != .notYetValid { state.withLock { ($0.digest, $0.problem) = (digest, problem) } }
            throw problem
        }
    }

    private func authority(
        _ contents: Files.Contents, at now: WallTime
    ) throws(CertificateAuthority.Failure) -> CertificateAuthority {
        let identity: Identity
        do throws(Identity.Failure) {
            identity = try Identity(
                certificate: .content(contents.certificate), key: .content(contents.key),
                passphrase: contents.passphrase)
        } catch { throw .identity(error) }
        return try CertificateAuthority(identity, at: now)
    }

    private func makeIfMissing(host: String, at now: WallTime) throws(Problem) {
        guard case .state = place, !files.areThere else { return }
        try files.keep(try make(host: host, at: now), replacing: false)
    }

    private func make(host: String, at now: WallTime) throws(Problem) -> CertificateAuthority {
        do throws(CertificateAuthority.Failure) {
            return try CertificateAuthority.make(host: host, names: names, at: now)
        } catch { throw .unusable(place, error) }
    }

    private func warning(at now: WallTime) -> Problem? {
        guard let authority = leaves?.authority else { return nil }
        let certificate = authority.identity.leaf
        if certificate.notAfter <= now { return .unusable(place, .expired) }
        if certificate.notAfter - now < Self.notice {
            return .expiresSoon(certificate: place.certificate, day: certificate.lastDay)
        }
        if case .state = place, !authority.speaks(for: names) { return .otherNames(certificate: place.certificate) }
        return nil
    }

    /// The location of the local CA's certificate and key.
    public enum Location: Sendable, Hashable {
        /// The files `ca.pem` and `ca.key` in a directory of the proxy; created if they are missing.
        case state(directory: String)
        /// The files of a CA that an operator provides, in PEM.
        case files(certificate: String, key: String, passphrase: ValueSource?)

        public var certificate: String { paths.certificate }
        public var key: String { paths.key }

        private var paths: (certificate: String, key: String) {
            switch self {
            case .state(let directory): ("\(directory)/ca.pem", "\(directory)/ca.key")
            case .files(let certificate, let key, _): (certificate, key)
            }
        }

        /// The permissions that the key of the proxy's own CA must not have. An operator's key is a secret like the
        /// others, and often the operator cannot change the permissions of a mounted one.
        var forbiddenPermissions: UInt32 { if case .state = self { 0o077 } else { 0 } }
    }

    /// The reason why the local CA cannot be used, or a warning about it. A sentence that reads well after `attache: `.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case missing(path: String, CAStore.Location)
        case unreadable(path: String, cause: String)
        case empty(path: String)
        /// The key has too many permissions.
        case exposedKey(path: String)
        /// The content of the files cannot be used.
        case unusable(CAStore.Location, CertificateAuthority.Failure)
        /// The passphrase has no value.
        case passphrase(CredentialError)
        /// The CA could not be created.
        case unwritable(cause: String)
        /// The CA is used, but its name constraints differ from the rule file's.
        case otherNames(certificate: String)
        /// The CA is used, but expires soon.
        case expiresSoon(certificate: String, day: String)

        public var description: String {
            switch self {
            case .missing(let path, .files): "the CA: there is no file \(path)"
            case .missing(let path, .state):
                "the CA: there is no file \(path): restore it, or make a new CA with "
                    + "'attache authority renew'"
            case .unreadable(let path, let cause): "the CA: cannot read \(path): \(cause)"
            case .empty(let path): "the CA: \(path) is empty"
            case .exposedKey(let path): "the CA: other users can read its key; run: chmod 600 \(path)"
            case .unusable(let place, let error): "the CA: \(place.certificate) with \(place.key): \(error)"
            case .passphrase(let error): "\(error)"
            case .unwritable(let cause): "cannot write the CA: \(cause)"
            case .otherNames(let certificate):
                "the CA: \(certificate) has other names than the rule file; "
                    + "run 'attache authority renew' to make one for these"
            case .expiresSoon(let certificate, let day):
                "the CA: \(certificate) expires on \(day); run 'attache authority renew' to make a new one"
            }
        }
    }
}
