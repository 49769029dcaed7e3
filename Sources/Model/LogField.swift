/// The fields of a line of the JSON log that is about a request.
public enum RequestField: String, JSONField {
    case time, client, uid, user, method, target, status
    case bytesIn = "bytes_in"
    case bytesOut = "bytes_out"
    case milliseconds = "ms"
    case connectMilliseconds = "connect_ms"
    case waitMilliseconds = "wait_ms"
    case upstream, http, socks
    case isRedirected = "redirected"
    case tunnel, tls
    case upstreamHTTP = "upstream_http"
    case isResumed = "tls_resumed"
    case trustFindings = "trust_findings"
    case trustRule = "trust_rule"
    case trustException = "trust_exception"
    case identity, route, parent
    case parentHTTP = "parent_http"
    case parentScheme = "parent_scheme"
    case parentCredential = "parent_credential"
    case rule, scheme, credential, attempts, challenge, realm, error, details

    public var manual: JSONFieldManual {
        switch self {
        case .time: .init(.time, "when the request ended")
        case .client: .init(.string, "the client's address; unix at a unix socket")
        case .uid: .init(.number, "the user id of the client's process at a unix socket")
        case .user: .init(.string, "the user who logged in to this proxy, or whom 'listen … as' names")
        case .method: .init(.string, "the method of the request")
        case .target: .init(.string, "its URL; HOST:PORT for CONNECT")
        case .status: .init(.number, "the status of the response, or of the proxy's refusal of a gRPC call")
        case .bytesIn: .init(.number, "bytes of body or tunnel from the client")
        case .bytesOut: .init(.number, "bytes of body or tunnel to the client")
        case .milliseconds: .init(.number, "milliseconds from the first byte of the request to its end")
        case .connectMilliseconds: .init(.number, "milliseconds of DNS lookup and connecting")
        case .waitMilliseconds:
            .init(.number, "milliseconds from sending the request to the first byte of the response")
        case .upstream: .init(.string, "opened or reused: the connection to the server")
        case .http: .init(.string, "2 if the client spoke HTTP/2")
        case .socks: .init(.string, "5, 4a or 4: the version of SOCKS by which the client asked for a tunnel")
        case .isRedirected:
            .init(.boolean, "true for a connection that 'listen … transparent' took, and that is no plain HTTP")
        case .tunnel: .init(.string, "https, http or opaque: what an intercepted tunnel contains")
        case .tls: .init(.string, "the version of TLS with the server")
        case .upstreamHTTP: .init(.string, "2 if the server was asked by HTTP/2")
        case .isResumed: .init(.boolean, "true if a TLS session was resumed")
        case .trustFindings: .init(.string, "the problems of the server's certificate")
        case .trustRule: .init(.object, "the rule that decided about them; see below")
        case .trustException: .init(.boolean, "true if a stored exception forgave them")
        case .identity: .init(.string, "the name of the client certificate that was shown")
        case .route: .init(.string, "the pattern of the route")
        case .parent: .init(.string, "the parent")
        case .parentHTTP: .init(.string, "2 if the parent was asked by HTTP/2")
        case .parentScheme: .init(.string, "the scheme of the login at the parent")
        case .parentCredential: .init(.string, "the credential of that login")
        case .rule: .init(.object, "the rule that decided; see below")
        case .scheme: .init(.string, "the scheme of the answer")
        case .credential: .init(.string, "the name of the credential that answered")
        case .attempts: .init(.number, "how often a credential was sent")
        case .challenge: .init(.string, "the schemes of the challenge, with spaces between them")
        case .realm: .init(.string, "its realm")
        case .error: .init(.string, "why the proxy ended the request (RFC 9209 section 2.3)")
        case .details: .init(.string, "the same as a sentence; or why there was no answer")
        }
    }
}

/// The fields of a line of the JSON log that is an event.
public enum EventField: String, JSONField {
    case time, level, event, version, by, client, user, uid, replica, happened, host, port, `protocol`, proxy, realm
    case method, credential, persistence
    case isDefault = "default"
    case since
    case nextTry = "next_try"
    case count, details

    public var manual: JSONFieldManual {
        switch self {
        case .time: .init(.time, "when it was logged")
        case .level: .init(.string, "info, warning or error")
        case .event: .init(.string, "the event; 'attache help log' lists them")
        case .version: .init(.number, "the version of this format: 1; of proxy.started and log.reopened")
        case .by: .init(.string, "client, command, dashboard, signal, file or proxy")
        case .client: .init(.string, "the client's address; unix at a unix socket")
        case .user: .init(.string, "the client's user")
        case .uid: .init(.number, "the user id on the machine of the command or the signal")
        case .replica: .init(.string, "the machine where it happened, if another")
        case .happened: .init(.time, "when it happened there")
        case .host: .init(.string, "the server; a KDC is krb5:REALM")
        case .port: .init(.number, "its port")
        case .protocol: .init(.string, "http, https, ftp or socks")
        case .proxy: .init(.boolean, "true if it is a parent")
        case .realm: .init(.string, "the realm")
        case .method: .init(.string, "the method, as in a rule")
        case .credential: .init(.string, "the name of the credential")
        case .persistence: .init(.string, "none, session or permanent")
        case .isDefault: .init(.boolean, "true if the credential became the default of its space")
        case .since: .init(.time, "when the state began")
        case .nextTry: .init(.time, "when the credential is sent next")
        case .count: .init(.number, "how many events were omitted")
        case .details: .init(.string, "the rest, as a sentence")
        }
    }
}

/// The fields of the object that `ask webhook` sends.
public enum WebhookField: String, JSONField {
    case time, version, type, id, challenge, host, port, `protocol`, proxy, realm, method, rule, user, details, pin
    case client, status, fields, text

    public var manual: JSONFieldManual {
        switch self {
        case .time: .init(.time, "when it was sent")
        case .version: .init(.number, "the version of this format: 1")
        case .type: .init(.string, "question")
        case .id: .init(.number, "the ID for 'attache ask answer'")
        case .challenge: .init(.string, "the challenge in words")
        case .host: .init(.string, "the server")
        case .port: .init(.number, "its port")
        case .protocol: .init(.string, "http, https, ftp or socks")
        case .proxy: .init(.boolean, "true if it is a parent")
        case .realm: .init(.string, "the realm")
        case .method: .init(.string, "the method, as in a rule")
        case .rule: .init(.object, "the rule that asks; see below")
        case .user: .init(.string, "the user of the proposed credential")
        case .details: .init(.string, "more about it, for people")
        case .pin: .init(.string, "the pin of the key of the server's certificate")
        case .client: .init(.string, "the first client that waits")
        case .status: .init(.number, "the status of the response that challenged")
        case .fields: .init(.strings, "some of its field lines")
        case .text: .init(.string, "up to 1 KB of its text")
        }
    }
}
