import Authentication
import Bytes
import Model
import Telemetry

extension AuditEvent {
    /// Appends the event's line to the log.
    public func append(to buffer: ByteBuffer, at now: WallTime, as style: LogLine.Style) {
        let line = LogLine(into: buffer, at: now, level, name.rawValue, isSentence: name.isNotice, as: style)
        // Each file of the log begins with one of these events.
        if name == .proxyStarted || name == .logReopened, case .json = style {
            line.add(EventField.version, JSONFormat.version)
        }
        if !name.isNotice { actor.add(to: line) }
        if let elsewhere {
            line.add(EventField.replica, elsewhere.replica)
            line.add(EventField.happened, time: elsewhere.time)
        }
        if let space {
            line.add(EventField.host, space.host)
            line.add(EventField.port, Int(space.port))
            line.add(EventField.protocol, space.protocol.rawValue)
            line.add(EventField.proxy, space.isProxy)
            line.add(EventField.realm, space.realm)
            let method = space.authenticationMethod
            line.add(EventField.method, method == .default ? nil : method.rawValue)
        } else {
            line.add(EventField.host, server)
            line.add(EventField.method, method)
        }
        line.add(EventField.credential, credential)
        line.add(EventField.persistence, persistence?.rawValue)
        line.add(EventField.isDefault, isDefault)
        line.add(EventField.since, time: since)
        line.add(EventField.nextTry, time: nextTry)
        line.add(EventField.count, count)
        line.end(details)
    }
}

extension AuditEvent.Actor {
    fileprivate func add(to line: LogLine) {
        let (word, uid, client, user) = parts
        line.add(EventField.by, word)
        line.add(EventField.client, client)
        line.add(EventField.user, user)
        line.add(EventField.uid, uid.map { Int($0) })
    }
}
