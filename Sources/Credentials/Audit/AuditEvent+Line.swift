import Authentication
import Bytes
import Model
import Telemetry

extension AuditEvent {
    /// Appends the event's line to the log.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func append(to buffer: ByteBuffer, at now: Int, as style: LogStyle) {
        let line = LogLine(into: buffer, at: now, level, name.rawValue, isSentence: name.isNotice, as: style)
        if !name.isNotice { actor.add(to: line) }
        if let elsewhere {
            line.add("replica", elsewhere.replica)
            line.add("happened", time: elsewhere.time)
        }
        if let space {
            line.add("host", space.host)
            line.add("port", Int(space.port))
            line.add("protocol", space.protocol.rawValue)
            line.add("proxy", space.isProxy)
            line.add("realm", space.realm)
            let method = space.authenticationMethod
            line.add("method", method == .default ? nil : method.rawValue)
        } else {
            line.add("host", server)
        }
        line.add("credential", credential)
        line.add("persistence", persistence?.rawValue)
        line.add("default", isDefault)
        line.add("since", time: since)
        line.add("next_try", time: nextTry)
        line.add("count", count)
        line.end(details)
    }
}

extension AuditEvent.Actor {
    fileprivate func add(to line: LogLine) {
        switch self {
        case .proxy: line.add("by", "proxy")
        case .file: line.add("by", "file")
        case .dashboard: line.add("by", "dashboard")
        case .client(let address, let user):
            line.add("by", "client")
            line.add("client", address)
            line.add("user", user)
        case .command(let user):
            line.add("by", "command")
            line.add("uid", Int(user))
        case .signal(let user):
            line.add("by", "signal")
            line.add("uid", user.map { Int($0) })
        }
    }
}
