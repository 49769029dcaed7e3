import Bytes
import HTTP
import Model

extension AccessLogEncoder {
    func appendJSON(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        appendMembers(record, at: time, longestPath: .max, to: line)
        line.append(UInt8(ascii: "}"))
    }

    /// Appends an object for the dashboard, without its opening brace: the members of a log line, and those for the
    /// dashboard alone. A long path is cut.
    func appendRecent(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        let start = line.count
        appendMembers(record, at: time, longestPath: Self.longestRecentPath, to: line)
        if !record.hostRange.isEmpty {
            line.append(#","host":""#)
            let text = record.text
            line.append(json: text.readable.extracting(record.hostRange))
            line.append(.quote)
        }
        if let answering = record.answering {
            line.append(key: #","challenge_ms":"#, number: Int(clamping: answering / 1_000_000))
        }
        line.append(key: #","proxy_status":""#, string: record.proxyStatus)
        if !record.challenges.isEmpty {
            line.append(#","challenges":["#)
            for (place, challenge) in record.challenges.enumerated() where line.count - start < Self.longestRecent {
                if place > 0 { line.append(UInt8(ascii: ",")) }
                append(challenge, to: line)
            }
            line.append(UInt8(ascii: "]"))
        }
        line.append(UInt8(ascii: "}"))
    }

    /// The limits in bytes of a path on the dashboard, and of a request there; beyond it no further challenge is
    /// appended.
    private static let (longestRecentPath, longestRecent) = (512, 6 << 10)

    private func append(_ challenge: MetChallenge, to line: ByteBuffer) {
        let decision = challenge.decision
        line.append(#"{"method":""#)
        line.append(json: decision.method)
        line.append(.quote)
        line.append(key: #","realm":""#, string: decision.realm)
        line.append(key: #","rule":"#, rule: decision.rule)
        line.append(key: #","disposition":""#, string: decision.disposition)
        line.append(key: #","result":""#, string: challenge.result?.rawValue)
        line.append(UInt8(ascii: "}"))
    }

    /// Appends the opening brace of the object and its members.
    private func appendMembers(
        _ record: ExchangeRecord, at time: WallTime, longestPath: Int, to line: ByteBuffer
    ) {
        let text = record.text
        let second = timeText(of: time)
        line.append(#"{"time":""#)
        line.append(second.readable)
        line.append(UInt8(ascii: "."))
        line.append(threeDigits: time.milliseconds % 1000)
        line.append(#"Z","client":""#)
        line.append(text.readable.extracting(record.clientRange))
        line.append(.quote)
        if let uid = record.uid { line.append(key: #","uid":"#, number: Int(uid)) }
        line.append(key: #","user":""#, string: record.user)
        if !record.methodRange.isEmpty {
            line.append(#","method":""#)
            line.append(json: text.readable.extracting(record.methodRange))
            line.append(#"","target":""#)
            line.append(record.targetScheme)
            line.append(json: text.readable.extracting(record.hostRange))
            line.append(portOf: record)
            append(path: text.readable.extracting(record.pathRange), longest: longestPath, to: line)
            line.append(.quote)
        }
        if record.status > 0 { line.append(key: #","status":"#, number: record.status) }
        line.append(key: #","bytes_in":"#, number: record.bytesIn)
        line.append(key: #","bytes_out":"#, number: record.bytesOut)
        line.append(key: #","ms":"#, number: record.milliseconds)
        if let connect = record.connectMilliseconds { line.append(key: #","connect_ms":"#, number: connect) }
        if let wait = record.waitMilliseconds { line.append(key: #","wait_ms":"#, number: wait) }
        switch record.upstream {
        case .none: break
        case .opened: line.append(#","upstream":"opened""#)
        case .reused: line.append(#","upstream":"reused""#)
        }
        line.append(key: #","http":""#, token: record.version == .http2 ? "2" : nil)
        line.append(key: #","socks":""#, token: record.socks?.token)
        if record.isRedirected { line.append(#","redirected":true"#) }
        line.append(key: #","tunnel":""#, token: record.tunnel?.token)
        if let security = record.security { append(security, isResumed: record.isResumed, to: line) }
        line.append(key: #","route":""#, string: record.route)
        if let parent = record.parent {
            line.append(key: #","parent":""#, string: parent.parent.label)
            if record.asksParentByHTTP2 { line.append(#","parent_http":"2""#) }
            line.append(key: #","parent_scheme":""#, token: record.parentScheme?.token)
            line.append(key: #","parent_credential":""#, string: record.parentCredential)
        }
        appendDecision(record, to: line)
    }

    /// Appends a path. Of a longer one it appends the beginning, its length, and a hash with a key of this process,
    /// which tells such paths apart.
    private func append(path: Span<UInt8>, longest: Int, to line: ByteBuffer) {
        guard path.count > longest else { return line.append(json: path) }
        line.append(json: path.extracting(first: longest))
        line.append("… (\(path.count) bytes, #\(String(UInt(bitPattern: path.array.hashValue), radix: 16)))")
    }

    private func appendDecision(_ record: ExchangeRecord, to line: ByteBuffer) {
        line.append(key: #","rule":"#, rule: record.rule)
        line.append(key: #","scheme":""#, token: record.scheme?.token)
        line.append(key: #","credential":""#, string: record.credential)
        if record.attempts > 0 { line.append(key: #","attempts":"#, number: record.attempts) }
        if let challenge = record.challenge {
            line.append(key: #","challenge":""#, string: challenge.schemes)
            line.append(key: #","realm":""#, string: challenge.realm)
        }
        line.append(key: #","error":""#, string: record.error?.rawValue)
        line.append(key: #","details":""#, string: record.details)
    }

    private func append(_ security: SecurityRecord, isResumed: Bool, to line: ByteBuffer) {
        line.append(key: #","tls":""#, token: security.version)
        if security.speaksHTTP2 { line.append(#","upstream_http":"2""#) }
        if isResumed { line.append(#","tls_resumed":true"#) }
        line.append(key: #","trust_findings":""#, string: security.trustFindings)
        line.append(key: #","trust_rule":"#, rule: security.trustRule)
        if security.isException { line.append(#","trust_exception":true"#) }
        line.append(key: #","identity":""#, string: security.identity)
    }
}

extension ByteBuffer {
    fileprivate func append(key: StaticString, number: Int) {
        append(key)
        append(decimal: number)
    }

    fileprivate func append(key: StaticString, string: String?) {
        guard let string else { return }
        append(key)
        append(json: string)
        append(.quote)
    }

    fileprivate func append(key: StaticString, rule: RuleReference?) {
        guard let rule else { return }
        append(key)
        append(rule.json)
    }

    fileprivate func append(key: StaticString, token: StaticString?) {
        guard let token else { return }
        append(key)
        append(token)
        append(.quote)
    }
}
