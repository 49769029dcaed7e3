import Bytes
import Challenges
import Credentials
import Forwarding
import Glibc
import IO
import Model
import PAC
import Proxy
import Rules
import Synchronization
import Telemetry
import Upstream

/// A loaded rule file, with the objects made from it.
struct Setup {
    let rules: RuleSet
    let credentials: ConfiguredCredentials
    let clients: ClientAccounts
    let trust: TrustSources
    /// The PAC files, by the parent's name.
    private let automaticParents: [String: PACFile]
    /// The reports about files so far: a file that stays unreadable is reported once.
    private let reported: Reported

    private final class Reported: Sendable {
        let sentences = Mutex<Set<String>>([])
    }

    var threads: Int {
        switch rules.configuration.threads {
        case .automatic: Processors.count
        case .count(let count): count
        }
    }

    var admin: SocketAddress? {
        rules.configuration.admin.map { SocketAddress($0.address, port: $0.port) }
    }

    var drain: Duration { rules.configuration.timeouts.drain.duration }

    /// Reads and compiles a rule file, and reports its errors. Nil if it cannot be used.
    /// - Parameter running: the setup whose parts may be reused.
    static func load(_ path: String, since running: Setup? = nil) -> Setup? {
        do throws(CommandError) {
            let file = try RuleFile.read(path)
            let configuration = try file.valid()
            if !file.report.isEmpty { Console.write(file.report) }
            if let name = configuration.credentials.first(where: \.isKerberos)?.name,
                !ConfiguredCredentials.supportsKerberos
            {
                Console.error(
                    "credential \(name) needs MIT Kerberos, which is not installed here (libgssapi_krb5.so.2, Debian's "
                        + "libgssapi-krb5-2)")
                return nil
            }
            return make(configuration, since: running)
        } catch {
            error.report()
            return nil
        }
    }

    private static func make(_ configuration: Configuration, since running: Setup?) -> Setup? {
        let credentials = ConfiguredCredentials(
            configuration.configuredCredentials, environment: Environment.all, commands: configuration.commandTerms)
        let clients: ClientAccounts
        if let running, running.clients.serves(configuration.clients) {
            clients = running.clients
        } else {
            do throws(StartError) {
                let key = configuration.clients.nonceKey.map { NonceKey($0, environment: Environment.all) }
                clients = try ClientAccounts(configuration.clients, nonceKey: key)
            } catch {
                Console.error("\(error)")
                return nil
            }
        }
        let rules = RuleSet(configuration)
        guard let trust = try? TrustSources(rules) else { return nil }
        return Setup(
            rules: rules, credentials: credentials, clients: clients, trust: trust,
            automaticParents: configuration.automaticParents, reported: Reported())
    }

    /// Opens the log, and creates the policy.
    func policy(_ identities: ListenerCertificates) throws(StartError) -> ServicePolicy {
        let log = try openLog()
        let exchanges = Policy(
            rules: rules, credentials: credentials, trust: trust, automaticParents: automaticParents,
            recordedParts: rules.configuration.recordedParts)
        return ServicePolicy(
            exchanges, clients: clients, log: log,
            interception: try identities.interception(for: rules.configuration),
            webhook: rules.configuration.webhook.map {
                QuestionWebhook($0.endpoint, key: WebhookKey($0.key, environment: Environment.all))
            },
            collector: rules.configuration.traces.map { SpanCollector($0) })
    }

    /// Opens the log, again if it is already open.
    @discardableResult
    func openLog() throws(StartError) -> ServicePolicy.LogPolicy {
        try rules.configuration.log.open()
    }

    /// Reads secrets, users and certificates again. Reports each failure once, and again after a success.
    func refresh(into shared: SharedState, _ identities: ListenerCertificates) {
        let refresh = credentials.refresh()
        shared.adopt(refresh)
        let ofTrust = Set(trust.refresh().map { "\($0)" })
        let sentences = ofTrust.union(
            refresh.errors.map { "\($0)" } + refresh.warnings.map { "\($0)" }
                + clients.refresh() + identities.refresh())
        let news = reported.sentences.withLock { known in
            defer { known = sentences }
            return sentences.subtracting(known)
        }
        for sentence in news.sorted() {
            Console.say(sentence, as: ofTrust.contains(sentence) ? .trustIncomplete : .secretUnreadable)
        }
    }

    /// Has refused principals of these rules tried again when a command asks for it.
    func offerRetries(to shared: SharedState) {
        shared.challenges.onRetry { [credentials] fits in credentials.retryPrincipals(where: fits) }
    }

    /// Throws if certificates of the rule file cannot be used: without them requests would be sent without a client
    /// certificate. Call it after `refresh`, which has reported the problem.
    func requireIdentities() throws(StartError) {
        for credential in rules.configuration.credentials {
            // One that a program opens is read when a server asks for it.
            guard case .identity = credential.content, !credentials.isGiven(credential.name) else { continue }
            if (try? credentials.credential(named: credential.name)) == nil {
                throw StartError("a certificate that the rule file names cannot be used")
            }
        }
    }

    /// Throws if a PAC file cannot be used: routes would have no parents.
    func requireAutomaticParents() throws(StartError) {
        for (name, file) in automaticParents.sorted(by: { $0.key < $1.key }) {
            if let error = file.check() { throw StartError("the PAC file of the parent \(name): \(error)") }
        }
    }

    /// Reports changes of settings that a reload cannot apply.
    func reportFixedSettings(since running: Setup) {
        let (new, old) = (rules.configuration, running.rules.configuration)
        if new.listeners != old.listeners || new.admin != old.admin || new.adminLogin != old.adminLogin
            || new.threads != old.threads
        {
            Console.say("changes to listen, admin and threads take effect when you restart the proxy")
        }
    }
}

extension SpanCollector {
    fileprivate convenience init(_ traces: Configuration.Traces) {
        let fields = traces.headers.map { SecretField($0.name, $0.value, environment: Environment.all) }
        self.init(
            traces.collector, sample: traces.sample, fields: fields, service: traces.serviceName,
            version: ProgramVersion.text)
    }
}

extension Configuration {
    var configuredCredentials: [ConfiguredCredential] {
        credentials.map { ConfiguredCredential(name: $0.name, content: $0.content, commands: $0.commands) }
    }

    /// The PAC files, by the parent's name.
    var automaticParents: [String: PACFile] {
        let files = parents.compactMap { parent in parent.automatic.map { (parent.name, PACFile(path: $0)) } }
        return Dictionary(files) { $1 }
    }

    /// The settings of the programs that give secrets.
    var commandTerms: CommandTerms { CommandTerms(home: StatePath.find(state), time: timeouts.helper) }

    /// The parts of a record that log, traces and dashboard need.
    fileprivate var recordedParts: ExchangeRecord.Parts {
        var parts = log.parts
        if traces != nil { parts.formUnion(.requestLine) }
        if admin != nil { parts.formUnion([.requestLine, .challenges]) }
        return parts
    }
}

extension Configuration.Credential {
    fileprivate var isKerberos: Bool {
        if case .kerberos = content { true } else { false }
    }
}
