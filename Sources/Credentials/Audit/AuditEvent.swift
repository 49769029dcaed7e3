import Authentication
import Bytes
import Model
import Telemetry

/// An event of the log: a change of the answers that challenges may get, with names and never with a value; or a notice
/// for the operator.
public struct AuditEvent: Sendable, Hashable {
    /// The names of events. A name never changes, since people search for it.
    public enum Name: String, Sendable, CaseIterable {
        case credentialSet = "credential.set"
        case credentialRemoved = "credential.removed"
        /// A different credential became the default of its space.
        case credentialDefault = "credential.default"
        /// A client sent the credential, and a rule says to keep it.
        case credentialLearned = "credential.learned"
        /// The rule file's credential has a new value.
        case credentialChanged = "credential.changed"
        /// A server refused the credential. Requests still send it, or make the server be asked.
        case credentialRefused = "credential.refused"
        /// The credential was parked for this space, for good or until `nextTry`.
        case credentialParked = "credential.parked"
        case credentialLifted = "credential.lifted"
        /// The proxy has checked the credential at a server by a request of its own.
        case credentialProbed = "credential.probed"
        case trustSet = "trust.set"
        case trustRemoved = "trust.removed"
        /// This proxy refused the login of a client of its own.
        case loginRefused = "login.refused"
        /// A client has written a placeholder where it is not replaced.
        case placeholderMisplaced = "placeholder.misplaced"
        /// An operator has answered a challenge.
        case questionAnswered = "question.answered"
        /// An operator has revoked an answer.
        case answerForgotten = "answer.forgotten"
        case storeOpened = "store.opened"
        /// The store was replaced by another store.
        case storeReplaced = "store.replaced"
        case storeRekeyed = "store.rekeyed"
        case rulesLoaded = "rules.loaded"
        case rulesReloaded = "rules.reloaded"
        /// The dashboard has added lines to the rule file.
        case rulesAdded = "rules.added"
        /// The current rules stay in use.
        case rulesRejected = "rules.rejected"
        /// There were more events than the log shows.
        case eventsOmitted = "events.omitted"

        // Notices, whose details are a sentence.
        case proxyStarted = "proxy.started"
        case proxyStopping = "proxy.stopping"
        case proxyStopped = "proxy.stopped"
        /// A file of a secret, of users or of a listener's certificate cannot be used.
        case secretUnreadable = "secret.unreadable"
        /// A file of CA certificates or revocation lists cannot be used, or has no list of an issuer.
        case trustIncomplete = "trust.incomplete"
        /// Clients were refused, or disconnected to make room.
        case limitMet = "limit.met"
        case logReopened = "log.reopened"
        /// The log takes no lines, or loses some, or takes all again.
        case logTroubled = "log.troubled"
        /// Any other message for the operator.
        case notice

        public var isNotice: Bool {
            switch self {
            case .proxyStarted, .proxyStopping, .proxyStopped, .secretUnreadable, .trustIncomplete, .limitMet,
                .logReopened, .logTroubled, .notice:
                true
            default: false
            }
        }
    }

    /// The author of a change.
    public enum Actor: Sendable, Hashable {
        case proxy
        /// A request, or a server's response to it.
        case client(address: String, user: String?)
        /// A command of that user of the machine.
        case command(user: UInt32)
        /// A user who is logged in to the dashboard.
        case dashboard
        /// A signal from a user; nil: unknown.
        case signal(user: UInt32?)
        /// A write to a secret's file.
        case file

        /// The author for the store and the log: the kind in a word, and the parts that this kind has.
        var parts: (word: String, uid: UInt32?, client: String?, user: String?) {
            switch self {
            case .proxy: ("proxy", nil, nil, nil)
            case .file: ("file", nil, nil, nil)
            case .dashboard: ("dashboard", nil, nil, nil)
            case .client(let address, let user): ("client", nil, address, user)
            case .command(let user): ("command", user, nil, nil)
            case .signal(let user): ("signal", user, nil, nil)
            }
        }
    }

    public let name: Name
    public let actor: Actor
    public var space: ProtectionSpace?
    /// The server without protection spaces that it concerns: a KDC, such as `krb5:EXAMPLE.COM`.
    public var server: String?
    /// The name of the credential.
    public var credential: String?
    /// The method of a client's login.
    public var method: String?
    public var persistence: Persistence?
    /// Whether the credential became the default of its space.
    public var isDefault = false
    /// The beginning of the state that it reports; nil: now.
    public var since: WallTime?
    /// The time of the next try; nil: not until the value is set again.
    public var nextTry: WallTime?
    public var details: String?
    /// The number of omitted events.
    public var count: Int?
    /// The machine of the event and its time; nil: in this process, now.
    public var elsewhere: Elsewhere?

    public struct Elsewhere: Sendable, Hashable {
        public let replica: String
        public let time: WallTime
    }

    public init(
        _ name: Name, by actor: Actor, _ space: ProtectionSpace? = nil, credential: String? = nil,
        details: String? = nil
    ) {
        self.name = name
        self.actor = actor
        self.space = space
        self.credential = credential
        self.details = details
    }

    public var level: LogLine.Level {
        switch name {
        case .rulesRejected: .error
        case .credentialRefused, .credentialParked, .loginRefused, .placeholderMisplaced, .storeReplaced,
            .eventsOmitted, .secretUnreadable,
            .trustIncomplete, .limitMet, .logTroubled, .notice:
            .warning
        default: .info
        }
    }

    /// Whether requests can cause the event, as often as they like.
    var isOfTraffic: Bool {
        switch name {
        case .credentialLearned, .credentialRefused, .credentialParked, .credentialLifted, .credentialProbed,
            .loginRefused, .placeholderMisplaced:
            true
        default: false
        }
    }

    /// Whether the event concerns all processes that share a store.
    var isShared: Bool {
        switch name {
        case .credentialParked, .credentialLifted: true
        case .credentialLearned: persistence == .permanent
        default: false
        }
    }
}
