import Authentication
import Bytes
import Crypto
import GSSAPI
import IO
import Model
import Synchronization
import TLS

/// The rule file's credentials with their present values. A version changes when a value does.
public final class ConfiguredCredentials: Sendable {
    private let configured: [ConfiguredCredential]
    private let reader: ValueReader
    private let identities: IdentityReader
    private let grants: GrantReader
    /// How long before a certificate expires it is spoken of, in seconds: 14 days.
    private static let notice = 14 * 86400
    private let state = Mutex(State())
    /// Held while the files are read: two readings at once would report one write twice.
    private let reading = Mutex(())
    private let changes = Atomic(0)

    private struct State {
        var credentials: [ExactText: Credential] = [:]
        var errors: [ExactText: CredentialError] = [:]
        /// The files of each credential, as they were when they were read last.
        var stamps: [ExactText: [FileStamp?]] = [:]
    }

    /// The result of a refresh.
    public struct Refresh: Sendable {
        /// The credentials that have a new value.
        public let changed: [Credential]
        /// Of these, the names of those that had another before.
        public let replaced: [String]
        /// The versions whose files were written, replaced or touched, and have the same content as before.
        public let setAgain: [CredentialVersion]
        /// The sources that could not be read; an earlier value still holds.
        public let errors: [CredentialError]
        public let warnings: [ConfiguredCredentials.Warning]
    }

    /// Whether the library is installed that Kerberos principals need.
    public static var supportsKerberos: Bool { GSSAPILibrary.isInstalled }

    /// A Kerberos principal with its realm, which is the default one if the name has none.
    ///
    /// - Returns: nil if the name is no principal, or has no realm and Kerberos' configuration has no default.
    public static func wholePrincipal(_ name: String) -> String? { try? GSSAPILibrary.wholePrincipal(name) }

    /// Nothing is read yet: call `refresh` first.
    ///
    /// - Parameter environment: the process's, at the time the rules were loaded.
    public init(_ configured: [ConfiguredCredential], environment: [String: String]) {
        self.configured = configured
        reader = ValueReader(environment: environment)
        identities = IdentityReader(reader)
        grants = GrantReader(reader, identities: identities)
    }

    /// Takes over the values of credentials that older rules state in the same words, until there are newer ones.
    public func keep(valuesOf older: ConfiguredCredentials) {
        let same = Set(configured).intersection(older.configured)
        let kept = older.state.withLock { $0 }
        state.withLock { state in
            for entry in same {
                state.credentials[ExactText(entry.name)] = kept.credentials[ExactText(entry.name)]
                state.stamps[ExactText(entry.name)] = kept.stamps[ExactText(entry.name)]
            }
        }
        changes.add(1, ordering: .releasing)
    }

    /// Whether a file that a value comes from was written, replaced or touched since it was read. Looks at the files and does
    /// not read them. Blocks: never on a loop.
    public var hasNewFiles: Bool {
        let stamps = state.withLock { $0.stamps }
        return configured.contains { entry in
            guard let known = stamps[ExactText(entry.name)], !known.isEmpty else { return false }
            return known != entry.content.files.map { FileStamp(path: $0) }
        }
    }

    /// Has the KDC asked again about the principals that fit, if it refused them.
    public func retryPrincipals(where fits: (CredentialVersion) -> Bool) {
        let credentials = state.withLock { $0.credentials.values.filter { fits($0.version) } }
        for credential in credentials { credential.principal?.forgetRefusal() }
    }

    /// Reads all sources, and takes over what changed. Blocks on files: never on a loop.
    ///
    /// - Parameter now: seconds since 1970, for certificates that expire.
    @discardableResult
    public func refresh(at now: Int = SystemClock.epochMilliseconds / 1000) -> Refresh {
        reading.withLock { _ in read(at: now) }
    }

    private func read(at now: Int) -> Refresh {
        var changed: [Credential] = []
        var replaced: [String] = []
        var setAgain: [CredentialVersion] = []
        var errors: [CredentialError] = []
        var warnings: [ConfiguredCredentials.Warning] = []
        for entry in configured {
            do throws(CredentialError) {
                // Taken before the files are read: a write meanwhile is seen the next time.
                let stamps = entry.content.files.map { FileStamp(path: $0) }
                let credential = try read(entry)
                switch take(credential, from: stamps) {
                case .first: changed.append(credential)
                case .other:
                    changed.append(credential)
                    replaced.append(entry.name)
                case .again: setAgain.append(credential.version)
                case .same: break
                }
                warnings += warning(about: credential, at: now).map { [$0] } ?? []
                warnings += renew(entry.name, at: now).map { [$0] } ?? []
            } catch {
                errors.append(error)
                state.withLock { $0.errors[ExactText(entry.name)] = error }
            }
        }
        return Refresh(changed: changed, replaced: replaced, setAgain: setAgain, errors: errors, warnings: warnings)
    }

    /// Another number whenever some credential has another value.
    public var generation: Int { changes.load(ordering: .acquiring) }

    /// The last good value.
    public func credential(named name: String) throws(CredentialError) -> Credential {
        let key = ExactText(name)
        let (credential, error) = state.withLock { ($0.credentials[key], $0.errors[key]) }
        if let credential { return credential }
        throw error ?? .unknown(credential: name)
    }

    private func read(_ entry: ConfiguredCredential) throws(CredentialError) -> Credential {
        switch entry.content {
        case .password(let user, let password):
            let name = try reader.text(of: user, for: entry.name)
            let secret = try reader.secret(of: password, for: entry.name)
            return Credential(
                name: entry.name, user: name, password: secret, principal: KerberosTickets(name, .password(secret)))
        case .identity(let identity):
            return Credential(name: entry.name, identity: try identities.identity(identity, for: entry.name))
        case .token(let token):
            return Credential(name: entry.name, token: try reader.secret(of: token, for: entry.name))
        case .oauth(let grant):
            return Credential(name: entry.name, grant: try grants.grant(grant, for: entry.name))
        case .kerberos(let kerberos): return try principal(kerberos, for: entry.name)
        case .signature(let key):
            return Credential(name: entry.name, signingKey: try signingKey(key, for: entry.name))
        case .placed(let source, let placements):
            return try read(ConfiguredCredential(name: entry.name, content: source)).placed(in: placements)
        }
    }

    private func signingKey(
        _ key: SignatureSource, for name: String
    ) throws(CredentialError) -> SigningKey {
        var token: Secret?
        if let source = key.sessionToken { token = try reader.secret(of: source, for: name) }
        return SigningKey(
            region: key.region, service: key.service, accessKey: try reader.text(of: key.accessKey, for: name),
            secretKey: try reader.secret(of: key.secretKey, for: name), sessionToken: token,
            signsPayload: key.signsPayload)
    }

    private func principal(_ kerberos: KerberosSource, for name: String) throws(CredentialError) -> Credential {
        let proof: KerberosTickets.Proof
        let fingerprint: UInt128
        switch kerberos.proof {
        case .keytab(let path):
            proof = .keytab(path)
            let keys = try reader.file(path, limit: 1 << 20, for: name)
            fingerprint = CredentialFingerprint.of(["keytab", kerberos.principal, path], secrets: [keys])
        case .cache(let cache):
            // Tickets come and go there, and may be late: they are looked for when they are needed.
            proof = .cache(cache)
            fingerprint = CredentialFingerprint.of(["ccache", kerberos.principal, "\(cache)"], secrets: [])
        case .password(let source):
            let password = try reader.secret(of: source, for: name)
            proof = .password(password)
            fingerprint = CredentialFingerprint.of(["kerberos", kerberos.principal], secrets: [password])
        }
        return Credential(
            name: name, principal: KerberosTickets(kerberos.principal, proof), fingerprint: fingerprint)
    }

    /// Has the tickets of a principal renewed that was used, and says what is in the way.
    private func renew(_ name: String, at now: Int) -> ConfiguredCredentials.Warning? {
        let present = state.withLock { $0.credentials[ExactText(name)] }
        guard let tickets = present?.principal as? KerberosTickets else { return nil }
        tickets.refresh(at: now)
        return tickets.trouble.map { .noTicket(credential: name, $0) }
    }

    private func warning(about credential: Credential, at now: Int) -> ConfiguredCredentials.Warning? {
        guard let leaf = (credential.identity as? Identity)?.leaf else { return nil }
        let name = credential.version.name
        if leaf.notAfter < now { return .expired(credential: name, day: leaf.lastDay) }
        if leaf.notBefore > now { return .notYetValid(credential: name, day: leaf.firstDay) }
        return leaf.notAfter - now < Self.notice ? .expiresSoon(credential: name, day: leaf.lastDay) : nil
    }

    /// A value that was read, beside the one before.
    private enum Reading { case first, other, again, same }

    private func take(_ credential: Credential, from stamps: [FileStamp?]) -> Reading {
        let reading = state.withLock { state -> Reading in
            let name = credential.version.key
            state.errors[name] = nil
            let formerStamps = state.stamps.updateValue(stamps, forKey: name)
            let former = state.credentials.updateValue(credential, forKey: name)
            guard let former else { return .first }
            guard former.version == credential.version else { return .other }
            // The object that others hold already.
            state.credentials[name] = former
            guard let formerStamps, stamps != formerStamps, !stamps.contains(nil) else { return .same }
            former.principal?.forgetRefusal()
            return .again
        }
        if reading == .first || reading == .other { changes.add(1, ordering: .releasing) }
        return reading
    }
}

extension ConfiguredCredentials {
    /// A doubt about a credential that is used all the same.
    public enum Warning: Sendable, Hashable, CustomStringConvertible {
        /// The last day of its validity, such as `2026-11-21`, has passed: a peer will refuse it.
        case expired(credential: String, day: String)
        case expiresSoon(credential: String, day: String)
        case notYetValid(credential: String, day: String)
        /// A ticket was needed, and there was no ticket in time.
        case noTicket(credential: String, TicketError)

        public var description: String {
            switch self {
            case .expired(let credential, let day): "credential \(credential): the certificate expired on \(day)"
            case .expiresSoon(let credential, let day): "credential \(credential): the certificate expires on \(day)"
            case .notYetValid(let credential, let day):
                "credential \(credential): the certificate is not valid before \(day)"
            case .noTicket(let credential, let error): "cannot get a ticket for credential \(credential): \(error)"
            }
        }
    }
}
