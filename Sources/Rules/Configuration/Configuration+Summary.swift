extension Configuration {
    /// What differs from the defaults, one line each, in words close to the rule file's. Secrets are hidden. For a
    /// person, and for tests; it is not read back.
    public var summary: String {
        let standard = Configuration()
        var lines = listeners == standard.listeners ? [] : listeners.map(\.summary)
        if let admin { lines.append("admin \(admin)") }
        if case .count(let count) = threads { lines.append("threads \(count)") }
        if let state { lines.append("state \(state)") }
        if let files = authority.files {
            let passphrase = files.passphrase.map { " passphrase \($0)" } ?? ""
            lines.append("authority certificate \(files.certificate) key \(files.key)\(passphrase)")
        }
        if let store { lines.append("store \(store.summary)") }
        lines += authority.names.map { "authority names \($0)" }
        if log.format == .off {
            lines.append("log off")
        } else if log != standard.log {
            lines.append("log \(log.format.rawValue) \(log.destination.words)")
        }
        lines += limits.differences(from: standard.limits)
        lines += timeouts.differences(from: standard.timeouts)
        if clients.allow != standard.clients.allow {
            lines.append("clients allow \(clients.allow.map(\.description).joined(separator: " "))")
        }
        lines += clients.summary
        if clients.realm != standard.clients.realm { lines.append("clients realm \"\(clients.realm)\"") }
        lines += egress.entries.map { "egress \($0.verdict.rawValue) \($0.text)" }
        if egress.connectPorts != standard.egress.connectPorts {
            lines.append("egress connect-ports \(egress.connectPorts)")
        }
        lines += credentials.map { "credential \($0.name) \($0.content.summary)" }
        lines += parents.map(\.summary)
        lines += routes.map(\.summary)
        lines += challenges.map(\.summary)
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Configuration.Log.Destination {
    fileprivate var words: String {
        switch self {
        case .standardOutput: "stdout"
        case .standardError: "stderr"
        case .file(let path): "file \(path)"
        }
    }
}

extension Configuration.Limits {
    fileprivate func differences(from standard: Self) -> [String] {
        let named: [(String, KeyPath<Self, Int>)] = [
            ("replay-memory", \.replayMemory), ("replay-disk", \.replayDisk),
            ("replay-disk-total", \.replayDiskTotal), ("start-line", \.startLine), ("head", \.head),
            ("upstream-head", \.upstreamHead), ("fields", \.fields), ("clients", \.clients),
            ("decode-ratio", \.decodeRatio),
        ]
        return named.filter { self[keyPath: $0.1] != standard[keyPath: $0.1] }
            .map { "limits \($0.0) \(self[keyPath: $0.1])" }
            + (clientsPerAddress.map { ["limits clients-per-address \($0)"] } ?? [])
    }
}

extension Configuration.Timeouts {
    fileprivate func differences(from standard: Self) -> [String] {
        let named: [(String, KeyPath<Self, Duration>)] = [
            ("head", \.head), ("idle", \.idle), ("connect", \.connect), ("response", \.response), ("drain", \.drain),
            ("session", \.session),
        ]
        return named.filter { self[keyPath: $0.1] != standard[keyPath: $0.1] }
            .map { "timeouts \($0.0) \(self[keyPath: $0.1])" }
    }
}

extension Configuration.Challenge {
    fileprivate var summary: String {
        var words = ["challenge"]
        if let name = rule.name { words.append("\"\(name)\"") }
        words += hosts.map { "host \($0)" }
        if let ports { words.append("port \(ports)") }
        words += protocols.map { "protocol \($0.rawValue)" }
        words += realms.map { "realm \"\($0)\"" }
        if let methods { words.append("method \(methods.methods.map(\.description).joined(separator: " "))") }
        if let isProxy { words.append("proxy \(isProxy ? "yes" : "no")") }
        if let isSecure { words.append("secure \(isSecure ? "yes" : "no")") }
        words += clients.map { "client \($0)" }
        words += issuers.map { "issuer \"\($0)\"" }
        words += findings.map { "finding \($0.rawValue)" }
        if let failures { words.append("failures \(Self.range(failures))") }
        words.append("-> \(answerWords)")
        if attempts != 1 { words.append("attempts \(attempts)") }
        if persistence != .session { words.append("persistence \(persistence.rawValue)") }
        if !isPreemptive { words.append("preempt no") }
        if !order.isEmpty { words.append("order \(order.map(\.description).joined(separator: " "))") }
        if let authorization { words.append("authorization \(authorization.rawValue)") }
        if let trustTerms { words += trustTerms.summary }
        if let answerTerms { words += answerTerms.summary }
        if learns { words.append("learn yes") }
        return words.joined(separator: " ")
    }
}
