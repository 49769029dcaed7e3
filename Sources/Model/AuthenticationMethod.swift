/// The way to answer a challenge, by its word in the rule file.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case htmlForm = "html-form"
    case clientCertificate = "client-certificate"
    case serverTrust = "server-trust"
    /// A scheme that the proxy does not support. Only a program can make its answers.
    case other
    /// No particular method: for a credential that is stored for any of them, and for a request that is signed without
    /// a challenge. It is not a word of the rule file.
    case `default`

    public var description: String { rawValue }

    /// All that distinguishes the methods, except how their answers are made. The numbers are those of `allCases`.
    @inline(__always)
    public var traits: Traits {
        switch self {
        case .basic: Traits(0, .password, realm: .named, [.answersRequests, .revealsCredential], label: "basic")
        case .digest: Traits(1, .password, realm: .named, [.answersRequests, .needsChallenge], label: "digest")
        case .ntlm: Traits(2, .password, [.needsChallenge], label: "ntlm")
        case .negotiate: Traits(3, .ticket, [.needsChallenge], consent: .method, label: "negotiate")
        case .bearer: Traits(4, .token, realm: .optional, [.answersRequests, .revealsCredential], label: "bearer")
        case .htmlForm: Traits(5, .password, [.revealsCredential, .needsChallenge], consent: .form, label: "html-form")
        case .clientCertificate: Traits(6, .certificate, [.needsChallenge])
        case .serverTrust: Traits(7, .exception, [.needsChallenge])
        case .other:
            Traits(
                8, nil, realm: .optional, [.answersRequests, .revealsCredential, .needsChallenge], consent: .method,
                label: "other")
        case .default:
            Traits(9, nil, realm: .every, [.revealsCredential, .needsChallenge], consent: .never, label: "placed")
        }
    }

    /// One row of the table of methods. Trivial, so that reading a field of it is a look-up.
    public struct Traits: Sendable {
        /// The kind of credential that the answer is made of.
        public enum Credential: Sendable {
            /// A user and a password.
            case password
            /// A Kerberos ticket, for a principal or for a user and a password.
            case ticket
            case token
            /// A certificate with its private key.
            case certificate
            /// An exception for a server's key.
            case exception
        }

        /// Whether its spaces have a realm.
        public enum Realm: Sendable {
            /// Every challenge names one.
            case named
            case optional
            /// The space is the host.
            case none
            /// It stands for every realm.
            case every
        }

        /// The words that a rule needs before people are asked about a challenge, and before a password answers it.
        public enum Consent: Sendable {
            case none
            /// The method by its name.
            case method
            /// The fields of the form.
            case form
            /// People are not asked.
            case never
        }

        fileprivate struct Marks: OptionSet, Sendable {
            let rawValue: UInt8

            static let answersRequests = Marks(rawValue: 1)
            static let revealsCredential = Marks(rawValue: 2)
            static let needsChallenge = Marks(rawValue: 4)
        }

        /// The method's place among all cases; below 16.
        public let number: Int
        /// The kind of credential; nil if no credential answers, or any does.
        public let credential: Credential?
        public let realm: Realm
        private let marks: Marks
        public let consent: Consent
        /// The name in logs and metrics; nil for a method that answers no challenge of a response.
        public let label: StaticString?

        fileprivate init(
            _ number: Int, _ credential: Credential?, realm: Realm = .none, _ marks: Marks, consent: Consent = .none,
            label: StaticString? = nil
        ) {
            self.number = number
            self.credential = credential
            self.realm = realm
            self.marks = marks
            self.consent = consent
            self.label = label
        }

        /// Whether an answer belongs to its request, and not to a connection or a session.
        public var answersRequests: Bool { marks.contains(.answersRequests) }

        /// Whether a reader of the connection gets the credential itself from the answer.
        public var revealsCredential: Bool { marks.contains(.revealsCredential) }

        /// Whether the answer is made from the challenge; if not, it can be made before one comes.
        public var needsChallenge: Bool { marks.contains(.needsChallenge) }

        /// Whether a user and a password answer, by themselves or with a ticket.
        public var takesPasswords: Bool { credential == .password || credential == .ticket }
    }

    /// Whether responses ask for it; if not, TLS does.
    public var isOfResponses: Bool { self != .clientCertificate && self != .serverTrust }

    /// The kind of credential that a storage keeps for the method.
    public var storedKind: CredentialKind {
        switch traits.credential {
        case .password, .ticket, nil: .password
        case .token: .token
        case .certificate: .certificate
        case .exception: .trust
        }
    }
}

/// The kinds of credentials that a storage keeps.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    case password
    case token
    /// A certificate with its private key.
    case certificate
    /// An exception for a server's key.
    case trust
}
