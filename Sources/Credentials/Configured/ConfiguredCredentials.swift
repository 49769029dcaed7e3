import Authentication
import Bytes
import Crypto
import GSSAPI
import IO
import Model
import Synchronization
import TLS

/// The rule file's credentials with their current values. A version changes when the value does.
public final class ConfiguredCredentials: Sendable {
    private let configured: [ConfiguredCredential]
    private let reader: ValueReader
    private let identities: IdentityReader
    private let grants: GrantReader
    /// The time before its expiry from which a certificate is reported, in seconds: 14 days.
    private static let notice = 14 * 86400
    private let state = Mutex(State())
    /// Locked while the files are read: two simultaneous reads would report one write twice.
    private let reading = Mutex(())
    private let changes = Atomic(0)

    private struct State {
        var credentials: [ExactText: Credential] = [:]
        var errors: [ExactText: CredentialError] = [:]
        /// The states of each credential's files when they were last read.
        var stamps: [ExactText: [FileStamp?]] = [:]
    }

    /// The result of a refresh.
    public struct Refresh: Sendable {
        /// The credentials with a new value.
        public let changed: [Credential]
        /// The names of those changed credentials that had a value before.
        public let replaced: [String]
        /// The versions whose files were written, replaced or touched without a change of content.
        public let setAgain: [CredentialVersion]
        /// The sources that could not be read; an earlier value stays valid.
        public let errors: [CredentialError]
        public let warnings: [ConfiguredCredentials.Warning]
    }

    /// Whether the library for Kerberos principals is installed.
    public static var supportsKerberos: Bool { GSSAPILibrary.isInstalled }

    /// A Kerberos principal with its realm, which is the default one if the name has none.
    ///
    /// - Returns: nil if the name is no principal, or has no realm and Kerberos' configuration has no default.
    public static func wholePrincipal(_ name: String) -> String? { try? GSSAPILibrary.wholePrincipal(name) }

    /// Creates the credentials without reading them: call `refresh` first.
    ///
    /// - Parameter environment: the process's environment when the rules were loaded.
    public init(_ configured: [ConfiguredCredential], environment: [String: String]) {
        self.configured = configured
        reader = ValueReader(environment: environment)
        identities = IdentityReader(reader)
        grants = GrantReader(reader, identities: identities)
    }

    /// Keeps the values of credentials that older rules define identically, until there are newer values.
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

    /// Whether a file with a value was written, replaced or touched since it was read. It checks the files without
    /// reading them. Blocks: do not call it on a loop.
    public var hasNewFiles: Bool {
        let stamps = state.withLock { $0.stamps }
        return configured.contains { entry in
            guard let known = stamps[ExactText(entry.name)], !known.isEmpty else { return false }
            return known != entry.content.files.map { FileStamp(path: $0) }
        }
    }

    /// Allows the KDC to be asked again about the matching principals, if it refused them.
    public func retryPrincipals(where fits: (CredentialVersion) -> Bool) {
        let credentials = state.withLock { $0.credentials.values.filter { fits($0.version) } }
        for credential in credentials { credential.principal?.forgetRefusal() }
    }

    /// Reads all sources, and applies the changes. Blocks on files: do not call it on a loop.
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
                // Stamped before the files are read, so that a write meanwhile is noticed the next time.
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

    /// A number that changes whenever some credential has a new value.
    public var generation: Int { changes.load(ordering: .acquiring) }

    /// The last valid value.
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
        case .registry(let source): return Credential(name: entry.name, grant: try registry(source, for: entry.name))
        case .kerberos(let kerberos): return try principal(kerberos, for: entry.name)
        case .signature(let key):
            let reader = SigningKeyReader(values: reader)
            return Credential(name: entry.name, signingKey: try reader.key(key, for: entry.name))
        case .placed(let source, let placements):
            return try read(ConfiguredCredential(name: entry.name, content: source)).placed(in: placements)
        }
    }

    private func registry(_ source: RegistrySource, for name: String) throws(CredentialError) -> TokenGrant {
        var login: Credential?
        if let source = source.login {
            login = Credential(
                name: name, user: try reader.text(of: source.user, for: name),
                password: try reader.secret(of: source.password, for: name))
        }
        var grant = TokenGrant(
            server: .registry(source.server), clientID: nil, proof: .none, kind: .registry(login),
            scopes: source.scopes.map { "\($0)" })
        grant.resource = .auto
        return grant
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
            // The tickets of a cache change regularly and may come late: they are read when they are needed.
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

    /// Renews the tickets of a principal that was used, and returns the problem, if any.
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

    /// The relation of a value to the former one.
    private enum Reading { case first, other, again, same }

    private func take(_ credential: Credential, from stamps: [FileStamp?]) -> Reading {
        let reading = state.withLock { state -> Reading in
            let name = credential.version.key
            state.errors[name] = nil
            let formerStamps = state.stamps.updateValue(stamps, forKey: name)
            let former = state.credentials.updateValue(credential, forKey: name)
            guard let former else { return .first }
            guard former.version == credential.version else { return .other }
            // Keeps the object that other code already refers to.
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
    /// A warning about a credential that is still used.
    public enum Warning: Sendable, Hashable, CustomStringConvertible {
        /// The last day of the validity, such as `2026-11-21`, has passed, so a peer will refuse the certificate.
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
