/// A field of a JSON document or of a log line, which other programs read. The code that writes a document and `attache
/// help json` use the same cases.
public protocol JSONField: RawRepresentable<String>, CaseIterable, Sendable {
    /// The type and the meaning, for the manual.
    var manual: JSONFieldManual { get }
}

public struct JSONFieldManual: Sendable {
    /// The type of the value, such as `number`. Times are strings in the form of RFC 3339, in UTC.
    public let type: String
    /// The meaning, without a capital or a period.
    public let meaning: String

    init(_ type: JSONFieldManual.Kind, _ meaning: String) {
        self.type = type.rawValue
        self.meaning = meaning
    }

    enum Kind: String {
        case string, number, boolean, time, day, object, objects, strings
    }
}

/// The version of the documents and the log lines, in their field `version`. It counts up when a field is removed,
/// renamed, or gets another meaning; not for a new field.
public enum JSONFormat {
    public static let version = 1
}

/// The fields of `attache status --json`.
public enum StatusField: String, JSONField {
    case version
    case programVersion = "program_version"
    case process, started, listeners, admin
    case ruleFile = "rule_file"
    case rulesLoaded = "rules_loaded"
    case routes
    case challengeRules = "challenge_rules"
    case credentials, parents, rejected
    case rejectedBecause = "rejected_because"
    case store
    case storeProblem = "store_problem"
    case clients, questions, unanswered, parked
    case credentialStates = "credential_states"
    case parentServers = "parent_servers"
    case expiries
    case weakLogins = "weak_logins"

    public var manual: JSONFieldManual {
        switch self {
        case .version: .init(.number, "the version of this format: 1")
        case .programVersion: .init(.string, "the version of the program")
        case .process: .init(.number, "the id of the process")
        case .started: .init(.time, "when the process was started")
        case .listeners: .init(.strings, "the addresses for clients")
        case .admin: .init(.string, "the address of the admin listener")
        case .ruleFile: .init(.string, "the path of the rule file")
        case .rulesLoaded: .init(.time, "when its rules were loaded")
        case .routes: .init(.number, "how many routes the rules have")
        case .challengeRules: .init(.number, "how many challenge rules")
        case .credentials: .init(.number, "how many credentials")
        case .parents: .init(.number, "how many parents")
        case .rejected: .init(.time, "when a newer rule file was rejected")
        case .rejectedBecause: .init(.string, "why it was rejected")
        case .store: .init(.string, "the credential store")
        case .storeProblem: .init(.string, "why its changes cannot be followed")
        case .clients: .init(.number, "client connections that are open now")
        case .questions: .init(.number, "challenges that wait for an operator")
        case .unanswered: .init(.number, "protection spaces with an unanswered challenge")
        case .parked: .init(.number, "credentials on hold at some server")
        case .credentialStates: .init(.object, "the number of credentials in each state; the names are the states")
        case .parentServers: .init(.objects, "the parents, one for each address; see below")
        case .expiries: .init(.objects, "what expires, soonest first, at most 200; see below")
        case .weakLogins: .init(.objects, "weak logins and old TLS in use, latest first; see below")
        }
    }
}

/// The fields of an entry of `parent_servers`.
public enum ParentField: String, JSONField {
    case name, kind, address, found, state
    case failingSince = "failing_since"
    case nextTry = "next_try"
    case lastError = "last_error"
    case lastErrorTime = "last_error_time"
    case active, idle, requests, refused, failures

    public var manual: JSONFieldManual {
        switch self {
        case .name: .init(.string, "the parent's name in the rule file")
        case .kind: .init(.string, "http, https, socks4 or socks5")
        case .address: .init(.string, "HOST:PORT")
        case .found: .init(.boolean, "whether a PAC file named it")
        case .state: .init(.string, "unused, up or failing")
        case .failingSince: .init(.time, "since when no connection could be made")
        case .nextTry: .init(.time, "when the proxy tests it next")
        case .lastError: .init(.string, "the last failure, as a sentence")
        case .lastErrorTime: .init(.time, "when that was")
        case .active: .init(.number, "open connections with a request")
        case .idle: .init(.number, "open connections without a request")
        case .requests: .init(.number, "requests that have ended")
        case .refused: .init(.number, "requests refused because of a missing login")
        case .failures: .init(.number, "connections that could not be made")
        }
    }
}

/// The fields of an entry of `expiries`.
public enum ExpiryField: String, JSONField {
    case kind, name, place, expires
    case lastDay = "last_day"

    public var manual: JSONFieldManual {
        switch self {
        case .kind: .init(.string, "such as client certificate, token, stored exception")
        case .name: .init(.string, "the name of the credential, the rule or the listener")
        case .place: .init(.string, "the server that it is for")
        case .expires: .init(.time, "the first second after the expiry")
        case .lastDay: .init(.day, "the last day on which it is valid")
        }
    }
}

/// The fields of an entry of `weak_logins`.
public enum WeakUseField: String, JSONField {
    case finding, host, port, `protocol`, proxy, listener, client, application, credential, first, last

    public var manual: JSONFieldManual {
        switch self {
        case .finding: .init(.string, "the weakness, in words")
        case .host: .init(.string, "the server")
        case .port: .init(.number, "its port")
        case .protocol: .init(.string, "http, https or another protocol")
        case .proxy: .init(.boolean, "whether it is a parent")
        case .listener: .init(.boolean, "whether it is a listener of this proxy")
        case .client: .init(.string, "the address of the last client")
        case .application: .init(.string, "its application, from User-Agent")
        case .credential: .init(.string, "the name of the credential")
        case .first: .init(.time, "the first use")
        case .last: .init(.time, "the latest use")
        }
    }
}

/// The fields of a rule, wherever a document has the field `rule`.
public enum RuleField: String, JSONField {
    case name, file, line

    public var manual: JSONFieldManual {
        switch self {
        case .name: .init(.string, "the name in quotes after 'challenge'")
        case .file: .init(.string, "the path of the rule file")
        case .line: .init(.number, "the line of the rule")
        }
    }
}

/// The fields of a protection space, in each object that is about one.
public enum SpaceField: String, JSONField {
    case host, port, `protocol`, proxy, realm, method

    public var manual: JSONFieldManual {
        switch self {
        case .host: .init(.string, "the server")
        case .port: .init(.number, "its port; 0: any")
        case .protocol: .init(.string, "http, https, ftp or socks")
        case .proxy: .init(.boolean, "whether it is a parent, which answers 407")
        case .realm: .init(.string, "the realm of the challenge")
        case .method:
            .init(
                .string, "basic, digest, ntlm, negotiate, bearer, html-form, client-certificate, server-trust, default")
        }
    }
}

/// The fields of a response, in the field `response`.
public enum ResponseField: String, JSONField {
    case status, fields, text

    public var manual: JSONFieldManual {
        switch self {
        case .status: .init(.number, "the status")
        case .fields: .init(.strings, "some of its field lines")
        case .text: .init(.string, "up to 1 KB of its text")
        }
    }
}

/// The fields of an entry of `attache challenges --json`, after those of its protection space.
public enum ChallengeField: String, JSONField {
    case scheme, outcome, challenges, rule, disposition, rules, credential, failures, response, reason, remedy
    case suggestion, addable, solved, first, last, count

    public var manual: JSONFieldManual {
        switch self {
        case .scheme: .init(.string, "the scheme as the server wrote it, in lower case")
        case .outcome:
            .init(
                .string,
                "answered, passed (the client got it), cancelled (the client got a 502), waiting (for an operator), declined (no certificate was shown), unseen (in a tunnel)"
            )
        case .challenges: .init(.strings, "the challenges as the server sent them")
        case .rule: .init(.object, "the rule that decided; see below")
        case .disposition: .init(.string, "its decision in the words of the rule file")
        case .rules: .init(.strings, "the rules that did not match, each with the reason, for people")
        case .credential: .init(.string, "the name of the credential")
        case .failures: .init(.number, "refused answers of the request")
        case .response: .init(.object, "the response that challenged, or that refused the last answer; see below")
        case .reason: .init(.string, "why it was not answered, as a sentence")
        case .remedy: .init(.string, "what to do about a refused credential")
        case .suggestion: .init(.strings, "lines for the rule file that would answer it")
        case .addable: .init(.string, "what the dashboard asks for before it adds them: nothing, password or token")
        case .solved: .init(.time, "when the same server was answered later")
        case .first: .init(.time, "when it was met first")
        case .last: .init(.time, "when it was met last")
        case .count: .init(.number, "how often it was met")
        }
    }
}

/// The fields of an entry of `attache ask --json`, after those of its protection space.
public enum QuestionField: String, JSONField {
    case id, challenge, details, path, application, response, pin, rule, user, credentials, failures, since, clients
    case waiting

    public var manual: JSONFieldManual {
        switch self {
        case .id: .init(.number, "the ID for 'attache ask answer'")
        case .challenge: .init(.string, "the challenge in words")
        case .details: .init(.strings, "more about it, for people")
        case .path: .init(.string, "the path of the request held longest, without its query")
        case .application: .init(.string, "its application, from User-Agent")
        case .response: .init(.object, "the response that challenged; see below")
        case .pin: .init(.string, "the pin of the key of the server's certificate")
        case .rule: .init(.object, "the rule that asks; see below")
        case .user: .init(.string, "the user of the proposed credential")
        case .credentials: .init(.strings, "the names of credentials that could answer")
        case .failures: .init(.number, "refused answers of the request")
        case .since: .init(.time, "since when it waits")
        case .clients: .init(.strings, "the clients that wait, at most eight")
        case .waiting: .init(.number, "the requests that wait")
        }
    }
}

/// The fields of an entry of `attache ask answers --json`, after those of its protection space.
public enum AnswerField: String, JSONField {
    case id, challenge, answer, rule, since

    public var manual: JSONFieldManual {
        switch self {
        case .id: .init(.number, "the ID for 'attache ask forget'")
        case .challenge: .init(.string, "the challenge in words")
        case .answer: .init(.string, "the answer in the words of the rule file")
        case .rule: .init(.object, "the rule that asked; see below")
        case .since: .init(.time, "when it was given")
        }
    }
}

/// The fields of an entry of `attache credential list --json`; those of a protection space follow for a stored one.
public enum CredentialField: String, JSONField {
    case credential, source, place, endpoint, user, kind
    case isDefault = "default"
    case lastDay = "last_day"
    case reason
    case firstMet = "first_met"
    case lastSent = "last_sent"
    case remedy, servers

    public var manual: JSONFieldManual {
        switch self {
        case .credential: .init(.string, "the name")
        case .source: .init(.string, "where it comes from: rule file, store, client or token (fetched)")
        case .place: .init(.string, "the file or variable of its secret")
        case .endpoint: .init(.string, "the token endpoint")
        case .user: .init(.string, "the user, of a stored one")
        case .kind: .init(.string, "password, token, certificate or exception, of a stored one")
        case .isDefault: .init(.boolean, "whether it is the default of its space, of a stored one")
        case .lastDay: .init(.day, "the last day of an exception")
        case .reason: .init(.string, "what the server did")
        case .firstMet: .init(.time, "when this value was sent first")
        case .lastSent: .init(.time, "when it was sent last")
        case .remedy: .init(.string, "what to do if it is refused")
        case .servers: .init(.objects, "the servers that judged it; see below")
        }
    }
}

/// The fields of the state of a credential, and of its state at one server.
public enum StandingField: String, JSONField {
    case state, since
    case nextTry = "next_try"
    case waitsFor = "waits_for"

    public var manual: JSONFieldManual {
        switch self {
        case .state: .init(.string, "good, unknown, unproven, doubted, paused or held ('attache help refusals')")
        case .since: .init(.time, "when that state began")
        case .nextTry: .init(.time, "when it is sent next")
        case .waitsFor:
            .init(.string, "what the next try waits for: request, verdict, new-value, other-target or other-server")
        }
    }
}

/// The fields of an entry of `servers`, with those of its state.
public enum JudgeField: String, JSONField {
    case server, reason, accepted
    case lastAccepted = "last_accepted"
    case lastRefused = "last_refused"

    public var manual: JSONFieldManual {
        switch self {
        case .server: .init(.string, "the server; a KDC is krb5:REALM")
        case .reason: .init(.string, "what it did")
        case .accepted: .init(.boolean, "whether it has accepted the credential before")
        case .lastAccepted: .init(.time, "when it accepted last")
        case .lastRefused: .init(.time, "when it refused last")
        }
    }
}

/// The fields at the top of the other documents.
public enum DocumentField: String, JSONField {
    case version, challenges, questions, answers, credentials

    public var manual: JSONFieldManual {
        switch self {
        case .version: .init(.number, "the version of this format: 1")
        case .challenges: .init(.objects, "of 'attache challenges --json'")
        case .questions: .init(.objects, "of 'attache ask --json'")
        case .answers: .init(.objects, "of 'attache ask answers --json'")
        case .credentials: .init(.objects, "of 'attache credential list --json'")
        }
    }
}
