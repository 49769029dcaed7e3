import Authentication
import Model
import Telemetry

/// An event, as the log tells of it: a change of the answers that challenges may get, with names and never with a value; or a
/// notice for the operator.
public struct AuditEvent: Sendable, Hashable {
    /// The vocabulary. A name stays as it is: others search for it.
    public enum Name: String, Sendable, CaseIterable {
        case credentialSet = "credential.set"
        case credentialRemoved = "credential.removed"
        /// Another credential is the default of its space.
        case credentialDefault = "credential.default"
        /// A client has shown it, and a rule says to keep it.
        case credentialLearned = "credential.learned"
        /// The rule file's credential has another value.
        case credentialChanged = "credential.changed"
        /// By a server. Requests go on to send it, or to have the server asked.
        case credentialRefused = "credential.refused"
        /// It is not sent there until `nextTry`.
        case credentialParked = "credential.parked"
        case credentialLifted = "credential.lifted"
        /// The proxy has asked a server by a request of its own whether it is still good.
        case credentialProbed = "credential.probed"
        case trustSet = "trust.set"
        case trustRemoved = "trust.removed"
        /// An operator has answered a challenge.
        case questionAnswered = "question.answered"
        /// An operator has taken an answer back.
        case answerForgotten = "answer.forgotten"
        case storeOpened = "store.opened"
        /// Another store is in its place.
        case storeReplaced = "store.replaced"
        case storeRekeyed = "store.rekeyed"
        case rulesLoaded = "rules.loaded"
        case rulesReloaded = "rules.reloaded"
        /// The dashboard has added lines to the rule file.
        case rulesAdded = "rules.added"
        /// The running rules go on.
        case rulesRejected = "rules.rejected"
        /// There were more than are told.
        case eventsOmitted = "events.omitted"

        // Notices: their details are a sentence.
        case proxyStarted = "proxy.started"
        case proxyStopping = "proxy.stopping"
        case proxyStopped = "proxy.stopped"
        /// A file of a secret, of users or of a listener's certificate cannot be used.
        case secretUnreadable = "secret.unreadable"
        /// A file of CA certificates or revocation lists cannot be used, or has no list of an issuer.
        case trustIncomplete = "trust.incomplete"
        /// Clients were not served, or made room.
        case limitMet = "limit.met"
        case logReopened = "log.reopened"
        /// It takes no lines, or not all, or all again.
        case logTroubled = "log.troubled"
        /// All else that an operator has to know.
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

    /// By whom a change was made.
    public enum Actor: Sendable, Hashable {
        case proxy
        /// By a request, or by a server's answer to it.
        case client(address: String, user: String?)
        /// A command of that user of the machine.
        case command(user: UInt32)
        /// Somebody who is logged in to the dashboard.
        case dashboard
        /// A signal; nil: nobody knows of whom.
        case signal(user: UInt32?)
        /// Somebody who wrote a secret's file.
        case file
    }

    public let name: Name
    public let actor: Actor
    public var space: ProtectionSpace?
    /// The server that it is about where that has no protection spaces: a KDC, such as `krb5:EXAMPLE.COM`.
    public var server: String?
    /// Its name.
    public var credential: String?
    public var persistence: Persistence?
    /// Whether it is the default of its space by this.
    public var isDefault = false
    /// When the state began that it is about, in milliseconds since 1970; nil: now.
    public var since: Int?
    /// Milliseconds since 1970; nil: not before its value is set anew.
    public var nextTry: Int?
    public var details: String?
    /// Events that are not told.
    public var count: Int?
    /// The machine where it happened and the time, in milliseconds since 1970; nil: in this process, now.
    public var elsewhere: Elsewhere?

    public struct Elsewhere: Sendable, Hashable {
        public let replica: String
        public let time: Int
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

    public var level: LogLevel {
        switch name {
        case .rulesRejected: .error
        case .credentialRefused, .credentialParked, .storeReplaced, .eventsOmitted, .secretUnreadable,
            .trustIncomplete, .limitMet, .logTroubled, .notice:
            .warning
        default: .info
        }
    }

    /// Whether it is one that requests can bring about, as many as they like.
    var isOfTraffic: Bool {
        switch name {
        case .credentialLearned, .credentialRefused, .credentialParked, .credentialLifted, .credentialProbed: true
        default: false
        }
    }

    /// Whether it concerns all who share a store.
    var isShared: Bool {
        switch name {
        case .credentialParked, .credentialLifted: true
        case .credentialLearned: persistence == .permanent
        default: false
        }
    }
}
