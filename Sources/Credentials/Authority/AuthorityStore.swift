import Crypto
import IO
import Model
import Synchronization
import TLS

/// The local authority: made where it is ours and missing, read again when its files change. An unusable file leaves
/// the one that was there.
public final class AuthorityStore: Sendable {
    public let place: AuthorityPlace
    private let names: [NameConstraint]
    private let files: AuthorityFiles
    private let state = Mutex(State())

    private struct State {
        var leaves: LeafCache?
        /// Of what was read last, usable or not.
        var digest: UInt128?
        /// Why that was of no use.
        var problem: AuthorityProblem?
    }

    /// How long before it expires an authority is spoken of, in seconds: 30 days.
    private static let notice = 30 * 86400

    /// Nothing is read yet: call `open` first.
    ///
    /// - Parameters:
    ///   - names: the names an authority of ours may speak for; empty: all.
    ///   - environment: the process's, at the time the rules were loaded.
    public init(_ place: AuthorityPlace, names: [NameConstraint] = [], environment: [String: String]) {
        self.place = place
        self.names = names
        files = AuthorityFiles(place: place, values: ValueReader(environment: environment))
    }

    /// The leaves of the last good authority.
    public var leaves: LeafCache? { state.withLock { $0.leaves } }

    /// Reads the authority, after it was made where there was none. Blocks.
    ///
    /// - Parameters:
    ///   - host: the owner of a new one, for people.
    ///   - now: seconds since 1970.
    public func open(host: String, at now: Int) throws(AuthorityProblem) {
        try makeIfMissing(host: host, at: now)
        if let contents = try files.read(waits: true) { try take(contents, at: now) }
    }

    /// Puts a new authority with a new key in the place of ours, and keeps the old certificate beside it. Blocks.
    public func renew(host: String, at now: Int) throws(AuthorityProblem) {
        try files.keep(try make(host: host, at: now), replacing: true)
    }

    /// The certificate, for those who are to trust it, after the authority was made where there was none; the key is not
    /// looked at. Blocks.
    public func certificate(host: String, at now: Int) throws(AuthorityProblem) -> Certificate {
        try makeIfMissing(host: host, at: now)
        let content = try files.certificate()
        do throws(CertificateError) {
            let certificates = try content.withBytes { bytes throws(CertificateError) in
                try Certificate.all(inPEM: bytes)
            }
            guard let certificate = certificates.first(where: \.maySignCertificates) else {
                throw CertificateError.none
            }
            return certificate
        } catch { throw .unreadable(path: place.certificate, cause: "\(error)") }
    }

    /// Looks whether the files have changed, and takes over what can be used. Blocks: never on a loop.
    ///
    /// - Returns: the present problem, every time until it is solved.
    public func refresh(at now: Int) -> AuthorityProblem? {
        do throws(AuthorityProblem) {
            if let contents = try files.read(waits: false) { try take(contents, at: now) }
            return warning(at: now)
        } catch { return error }
    }

    private func take(_ contents: AuthorityFiles.Contents, at now: Int) throws(AuthorityProblem) {
        let digest = contents.digest
        let known = state.withLock { $0.digest == digest ? $0 : nil }
        if let known {
            if let problem = known.problem { throw problem }
            return
        }
        do throws(AuthorityError) {
            let leaves = LeafCache(authority: try authority(contents, at: now))
            state.withLock { $0 = State(leaves: leaves, digest: digest, problem: nil) }
        } catch {
            let problem = AuthorityProblem.unusable(place, error)
            // It is not tried again before it changes, since an encrypted key takes long to open; but time may help.
            if error != .notYetValid { state.withLock { ($0.digest, $0.problem) = (digest, problem) } }
            throw problem
        }
    }

    private func authority(
        _ contents: AuthorityFiles.Contents, at now: Int
    ) throws(AuthorityError) -> CertificateAuthority {
        let identity: Identity
        do throws(IdentityError) {
            identity = try Identity(
                certificate: .content(contents.certificate), key: .content(contents.key),
                passphrase: contents.passphrase)
        } catch { throw .identity(error) }
        return try CertificateAuthority(identity, at: now)
    }

    private func makeIfMissing(host: String, at now: Int) throws(AuthorityProblem) {
        guard case .state = place, !files.areThere else { return }
        try files.keep(try make(host: host, at: now), replacing: false)
    }

    private func make(host: String, at now: Int) throws(AuthorityProblem) -> CertificateAuthority {
        do throws(AuthorityError) {
            return try CertificateAuthority.make(host: host, names: names, at: now)
        } catch { throw .unusable(place, error) }
    }

    private func warning(at now: Int) -> AuthorityProblem? {
        guard let authority = leaves?.authority else { return nil }
        let certificate = authority.identity.leaf
        if certificate.notAfter <= now { return .unusable(place, .expired) }
        if certificate.notAfter - now < Self.notice {
            return .expiresSoon(certificate: place.certificate, day: certificate.lastDay)
        }
        if case .state = place, !authority.speaks(for: names) { return .otherNames(certificate: place.certificate) }
        return nil
    }
}

/// Where the local authority's certificate and key are.
public enum AuthorityPlace: Sendable, Hashable {
    /// `ca.pem` and `ca.key` in a directory of the proxy's own; made when they are missing.
    case state(directory: String)
    /// Somebody else's, in PEM.
    case files(certificate: String, key: String, passphrase: ValueSource?)

    public var certificate: String {
        switch self {
        case .state(let directory): "\(directory)/ca.pem"
        case .files(let certificate, _, _): certificate
        }
    }

    public var key: String {
        switch self {
        case .state(let directory): "\(directory)/ca.key"
        case .files(_, let key, _): key
        }
    }

    /// Permissions that others may not have on the key, if it is ours. An operator's key is a secret like the others,
    /// and who may read a mounted one is often not the operator's to say.
    var forbiddenPermissions: UInt32 {
        switch self {
        case .state: 0o077
        case .files: 0
        }
    }
}

/// Why the local authority is of no use, or what is to be known of it. A sentence reads well after `attache: `.
public enum AuthorityProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case missing(path: String, AuthorityPlace)
    case unreadable(path: String, cause: String)
    case empty(path: String)
    /// The key has more permissions than it may have.
    case exposedKey(path: String)
    /// Their content cannot be used.
    case unusable(AuthorityPlace, AuthorityError)
    /// The passphrase has no value.
    case passphrase(CredentialError)
    /// It could not be made.
    case unwritable(cause: String)
    /// It is used, but its name constraints are not what the rule file says.
    case otherNames(certificate: String)
    /// It is used, but not for long.
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
