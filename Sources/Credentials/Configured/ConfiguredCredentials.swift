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
    /// The credentials that have a value in a file.
    private let filed: [ConfiguredCredential]
    private let reader: ValueReader
    private let identities: IdentityReader
    private let grants: GrantReader
    /// The credentials that programs give, by name.
    private let asked: [ExactText: ConfiguredCredential]
    private let helpers: HelperCredentials
    /// Whether some helper is asked for the path of a request.
    public let asksForPaths: Bool
    /// The time before its expiry from which a certificate is reported: 14 days.
    private static let notice = Milliseconds.days(14)
    private let state = Mutex(State())
    /// The credentials that each refresh looks at. One whose value cannot change leaves the list once it was read. Locked
    /// while the files are read: two simultaneous reads would report one write twice.
    private let unsettled: Mutex<[ConfiguredCredential]>
    private let changes = Atomic(0)

    private struct State {
        var credentials: [ExactText: Credential] = [:]
        var errors: [ExactText: CredentialError] = [:]
        /// The states of each credential's files when they were last read.
        var stamps: [ExactText: [SmallFile.Stamp?]] = [:]
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
    /// - Parameters:
    ///   - environment: the process's environment when the rules were loaded.
    ///   - commands: the settings of the programs that give secrets.
    public init(
        _ configured: [ConfiguredCredential], environment: [String: String], commands: CommandTerms = CommandTerms()
    ) {
        self.configured = configured
        filed = configured.filter { !$0.content.files.isEmpty }
        unsettled = Mutex(configured)
        let asked = configured.filter { !$0.content.commands.isEmpty }
        self.asked = Dictionary(asked.map { (ExactText($0.name), $0) }) { first, _ in first }
        helpers = HelperCredentials(time: commands.time)
        asksForPaths = asked.contains(where: \.commands.asksForPath)
        reader = ValueReader(environment: environment, commands: commands, self.asked.mapValues(\.commands))
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
        helpers.keep(valuesOf: older.helpers) { name in same.contains { ExactText($0.name) == name } }
        changes.add(1, ordering: .releasing)
    }

    /// Whether a file with a value was written, replaced or touched since it was read. It checks the files without
    /// reading them. Blocks: do not call it on a loop.
    public var hasNewFiles: Bool {
        let stamps = state.withLock { $0.stamps }
        return filed.contains { entry in
            guard let known = stamps[ExactText(entry.name)] else { return false }
            return known != entry.content.files.map { SmallFile.Stamp(path: $0) }
        }
    }

    /// Allows the KDC to be asked again about the matching principals, if it refused them.
    public func retryPrincipals(where fits: (CredentialVersion) -> Bool) {
        let credentials = state.withLock { $0.credentials.values.filter { fits($0.version) } }
        for credential in credentials { credential.principal?.forgetRefusal() }
        helpers.retry()
    }

    /// Reads all sources, and applies the changes. Blocks on files: do not call it on a loop.
    ///
    /// - Parameter now: the time, for certificates that expire.
    @discardableResult
    public func refresh(at now: WallTime = SystemClock.wallTime) -> Refresh {
        unsettled.withLock { unsettled in
            var settled: Set<ExactText> = []
            let refresh = read(unsettled, at: now, &settled)
            if !settled.isEmpty { unsettled.removeAll { settled.contains(ExactText($0.name)) } }
            return refresh
        }
    }

    private func read(
        _ entries: [ConfiguredCredential], at now: WallTime, _ settled: inout Set<ExactText>
    ) -> Refresh {
        var changed: [Credential] = []
        var replaced: [String] = []
        var setAgain: [CredentialVersion] = []
        var errors: [CredentialError] = []
        var warnings: [ConfiguredCredentials.Warning] = []
        for entry in entries {
            do throws(CredentialError) {
                // Stamped before the files are read, so that a write meanwhile is noticed the next time.
                let stamps = entry.content.files.map { SmallFile.Stamp(path: $0) }
                if !entry.content.commands.isEmpty {
                    errors += problems(of: entry)
                    continue
                }
                let isConstant = Self.isConstant(entry.content)
                let known = isConstant ? state.withLock { $0.credentials[ExactText(entry.name)] } : nil
                let credential: Credential
                if let known {
                    credential = known
                } else {
                    credential = try read(entry)
                    switch take(credential, from: stamps) {
                    case .first: changed.append(credential)
                    case .other:
                        changed.append(credential)
                        replaced.append(entry.name)
                    case .again: setAgain.append(credential.version)
                    case .same: break
                    }
                }
                // The tickets of a constant password must still be renewed.
                if isConstant, credential.principal == nil { settled.insert(ExactText(entry.name)) }
                warnings += [warning(about: credential, at: now), renew(entry.name, at: now)].compactMap(\.self)
            } catch {
                errors.append(error)
                state.withLock { $0.errors[ExactText(entry.name)] = error }
            }
        }
        return Refresh(changed: changed, replaced: replaced, setAgain: setAgain, errors: errors, warnings: warnings)
    }

    /// Whether the credential has only values that the rule file or the environment contains. They do not change.
    private static func isConstant(_ source: CredentialSource) -> Bool {
        switch source {
        case .password, .token: source.files.isEmpty
        case .placed(let source, _): isConstant(source)
        case .identity, .kerberos, .oauth, .registry, .signature, .helper: false
        }
    }

    /// A number that changes whenever some credential has a new value.
    public var generation: Int { changes.load(ordering: .acquiring) }

    /// The last valid value.
    ///
    /// - Parameters:
    ///   - origin: the server that it is for, which the helper of some credentials is asked for.
    ///   - path: the path of the request, which some helpers are asked for.
    public func credential(
        named name: String, for origin: Origin? = nil, path: String? = nil
    ) throws(CredentialError) -> Credential {
        let key = ExactText(name)
        if hasHelpers, let entry = asked[key] {
            let place = place(of: entry, for: origin, path)
            if let value = helpers.current(place, at: SystemClock.wallTime) { return value }
            throw helpers.error(place) ?? .notRead(credential: name)
        }
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
        // Its reader is `ask`.
        case .helper: throw .notRead(credential: entry.name)
        case .placed(let source, let placements):
            return try read(ConfiguredCredential(name: entry.name, content: source)).placed(in: placements)
        }
    }

    /// - Parameter login: the login that a helper has given; nil: that of the rule file.
    private func registry(
        _ source: RegistrySource, for name: String, with login: Credential? = nil
    ) throws(CredentialError) -> TokenGrant {
        var login = login
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

    private func principal(_ kerberos: CredentialSource.Kerberos, for name: String) throws(CredentialError)
        -> Credential
    {
        let proof: KerberosTickets.Proof
        let fingerprint: UInt128
        switch kerberos.proof {
        case .keytab(let path):
            proof = .keytab(path)
            let keys = try reader.file(path, limit: 1 << 20, for: name)
            fingerprint = CredentialVersion.Fingerprint.of(["keytab", kerberos.principal, path], secrets: [keys])
        case .cache(let cache):
            // The tickets of a cache change regularly and may come late: they are read when they are needed.
            proof = .cache(cache)
            fingerprint = CredentialVersion.Fingerprint.of(["ccache", kerberos.principal, "\(cache)"], secrets: [])
        case .password(let source):
            let password = try reader.secret(of: source, for: name)
            proof = .password(password)
            fingerprint = CredentialVersion.Fingerprint.of(["kerberos", kerberos.principal], secrets: [password])
        }
        return Credential(
            name: name, principal: KerberosTickets(kerberos.principal, proof), fingerprint: fingerprint)
    }

    /// Renews the tickets of a principal that was used, and returns the problem, if any.
    private func renew(_ name: String, at now: WallTime) -> ConfiguredCredentials.Warning? {
        let present = state.withLock { $0.credentials[ExactText(name)] }
        guard let tickets = present?.principal as? KerberosTickets else { return nil }
        tickets.refresh(at: now)
        return tickets.trouble.map { .noTicket(credential: name, $0) }
    }

    private func warning(about credential: Credential, at now: WallTime) -> ConfiguredCredentials.Warning? {
        guard let leaf = (credential.identity as? Identity)?.leaf else { return nil }
        let name = credential.version.name
        if leaf.notAfter.seconds < now.seconds { return .expired(credential: name, day: leaf.lastDay) }
        if leaf.notBefore > now { return .notYetValid(credential: name, day: leaf.firstDay) }
        return leaf.notAfter - now < Self.notice ? .expiresSoon(credential: name, day: leaf.lastDay) : nil
    }

    /// The relation of a value to the former one.
    private enum Reading { case first, other, again, same }

    private func take(_ credential: Credential, from stamps: [SmallFile.Stamp?]) -> Reading {
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

    // MARK: - Credentials that programs give

    /// Whether a program gives a credential, or a value of it. Without, a request asks nothing here.
    public var hasHelpers: Bool { !asked.isEmpty }

    private func given(_ name: ExactText) -> ConfiguredCredential? { hasHelpers ? asked[name] : nil }

    /// Whether a program gives the credential, or a value of it.
    public func isGiven(_ name: String) -> Bool { hasHelpers && asked.keys.contains(ExactText(name)) }

    private func place(
        of entry: ConfiguredCredential, for origin: Origin?, _ path: String?
    ) -> HelperCredentials.Key {
        let asksForServer = entry.content.helper?.kind.asksForServer ?? false
        return HelperCredentials.Key(
            name: ExactText(entry.name), server: asksForServer ? origin?.serverName : nil,
            path: entry.commands.asksForPath ? path.map { ExactText($0) } : nil)
    }

    /// The programs that cannot be started.
    private func problems(of entry: ConfiguredCredential) -> [CredentialError] {
        entry.content.commands.compactMap { reader.runner.problem(of: $0, for: entry.name) }
    }

    /// The question to the program that gives the credential, if it should run now: there is no value, or it is the
    /// refused one.
    ///
    /// - Parameters:
    ///   - refused: the value that the server has refused.
    ///   - challenges: the challenges of the response.
    public func question(
        _ name: String, for origin: Origin?, path: String? = nil, besides refused: CredentialVersion? = nil,
        challenges: [String] = [], at now: WallTime
    ) -> HelperQuestion? {
        guard let entry = given(ExactText(name)),
            helpers.wantsReading(place(of: entry, for: origin, path), besides: refused, at: now)
        else { return nil }
        return HelperQuestion(
            name: entry.name, origin: origin, path: entry.commands.asksForPath ? path : nil, challenges: challenges,
            refused: refused)
    }

    /// The helper's latest answer, if it was for one request alone, and is known to no other.
    public func spent(_ name: String, for origin: Origin?, path: String?) -> Credential? {
        given(ExactText(name)).flatMap { helpers.spent(place(of: $0, for: origin, path)) }
    }

    /// The question that renews a value before it ends; nil if it is not time.
    public func renewal(_ name: String, for origin: Origin, path: String? = nil, at now: WallTime) -> HelperQuestion? {
        guard let entry = given(ExactText(name)), helpers.isDue(place(of: entry, for: origin, path), at: now) else {
            return nil
        }
        return HelperQuestion(
            name: entry.name, origin: origin, path: entry.commands.asksForPath ? path : nil, challenges: [],
            refused: nil)
    }

    /// Runs the program, once for all that ask. Await it on a loop.
    ///
    /// - Returns: the value, which may be the refused one; or the reason why the program gives no value.
    public func ask(_ question: HelperQuestion) async -> Result<Credential, CredentialError> {
        guard let entry = given(ExactText(question.name)) else {
            return .failure(.unknown(credential: question.name))
        }
        let result = await helpers.read(
            place(of: entry, for: question.origin, question.path), keep: entry.commands.keep, besides: question.refused
        ) { [self] in
            Result { () throws(CredentialError) in try read(entry, question) }
        }
        changes.add(1, ordering: .releasing)
        let program = entry.content.commands.first?.program ?? ""
        return result ?? .failure(.helper(credential: entry.name, program: program, .late))
    }

    /// Returns what the last reading has changed. Only the first call gets it.
    public func takeNews(
        of question: HelperQuestion
    ) -> (change: HelperQuestion.Change?, failure: CredentialError?) {
        guard let entry = given(ExactText(question.name)) else { return (nil, nil) }
        return helpers.takeNews(place(of: entry, for: question.origin, question.path))
    }

    /// Tells a git helper what the server says of its credential.
    public func report(_ verdict: HelperVerdict, on credential: Credential, for origin: Origin, path: String?) {
        let version = credential.version
        guard let entry = given(version.key), let helper = entry.content.helper, helper.kind == .git else { return }
        let action =
            switch verdict {
            case .accepted: "store"
            case .refused: "erase"
            }
        let own = (credential.given?.successor as? HelperConversation)?.latest
        let place = place(of: entry, for: origin, path)
        helpers.report(verdict, on: version, place, own) { [reader] answer in
            let input =
                HelperQuestion.Git.action(action, of: helper.command)
                + HelperQuestion.Git.report(
                    origin, entry.commands.asksForPath ? path : nil, user: answer.user, answer.record)
            _ = try? reader.runner.output(of: helper.command, action, input: input, for: entry.name)
        }
    }

    private func read(
        _ entry: ConfiguredCredential, _ question: HelperQuestion
    ) throws(CredentialError) -> HelperCredentials.Reading {
        guard let helper = entry.content.helper else {
            return HelperCredentials.Reading(credential: try read(entry))
        }
        let answer = try HelperDialogue(reader.runner).answer(of: helper, to: question)
        return HelperCredentials.Reading(
            credential: try credential(of: answer, for: entry, after: question), answer: answer)
    }

    private func credential(
        of answer: HelperOutput.Answer, for entry: ConfiguredCredential, after question: HelperQuestion
    ) throws(CredentialError) -> Credential {
        let name = entry.name
        if let given = answer.givenAnswer({ HelperConversation(after: answer, question, of: self) }) {
            return Credential(name: name, given: given)
        }
        switch (answer.content, entry.content) {
        case (.password(let user, let password), _):
            let login = Credential(
                name: name, user: user, password: password, principal: KerberosTickets(user, .password(password)))
            guard case .registry(let source) = entry.content else { return login }
            return Credential(name: name, grant: try registry(source, for: name, with: login))
        case (.token(let token), .registry(let source)):
            return Credential(
                name: name, grant: try registry(source, for: name, with: Credential(name: name, token: token)))
        case (.token(let token), _): return Credential(name: name, token: token)
        case (.tokenAndIdentity(let token, let certificate, let key), _):
            return Credential(name: name, token: token, identity: try identity(certificate, key, of: name))
        case (.keys(let access, let secret, let token), .signature(.aws(let source))):
            return Credential(
                name: name,
                signingKey: .aws(
                    SigningKey.AWS(
                        region: source.region, service: source.service, accessKey: access, secretKey: secret,
                        sessionToken: token, signsPayload: source.signsPayload)))
        case (.identity(let certificate, let key), _):
            return Credential(name: name, identity: try identity(certificate, key, of: name))
        // The rule file has `helper aws` beside `aws` alone.
        case (.keys, _), (.fields, _): throw .unknown(credential: name)
        }
    }

    private func identity(
        _ certificate: Secret, _ key: Secret, of name: String
    ) throws(CredentialError) -> Identity {
        do throws(Identity.Failure) {
            return try Identity(certificate: .content(certificate), key: .content(key))
        } catch { throw .identity(credential: name, source: "the output of its helper", error) }
    }

    /// Asks the helper for the next answer of a login. Await it on a loop.
    func next(_ question: HelperQuestion) async -> Result<HelperOutput.Answer, CredentialError> {
        guard let entry = given(ExactText(question.name)), let helper = entry.content.helper else {
            return .failure(.unknown(credential: question.name))
        }
        let place = place(of: entry, for: question.origin, question.path)
        let answer = await helpers.next(place) { [reader] in
            Result { () throws(CredentialError) in try HelperDialogue(reader.runner).answer(of: helper, to: question) }
        }
        return answer ?? .failure(.helper(credential: entry.name, program: helper.command.program, .late))
    }
}
