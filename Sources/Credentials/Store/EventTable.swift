import Authentication
import Bytes
import Database
import IO
import Model

/// A store's table of changes to credentials and rules, with their authors, for the other processes.
enum EventTable {
    private static let columns =
        "\(CredentialTables.space), time, writer, event, credential, is_default, next_try, details, actor, uid, client, "
        + "\"user\", machine, revision"

    /// The limit of stored events; processes further behind miss older ones.
    static let capacity = 10_000
    /// The number of events read at a time.
    private static let limit = 1000

    /// - Parameter audit: the trail of the events.
    static func put(
        _ events: [AuditEvent], of audit: AuditTrail, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        if events.isEmpty { return }
        for event in events.suffix(capacity) { try add(event, of: audit, at: revision, connection) }
        try trim(connection)
    }

    /// Writes one of many events; trim the table after the last one.
    static func add(
        _ event: AuditEvent, of audit: AuditTrail, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        let values = event.columns(writtenBy: audit.id, at: audit.host) + [.integer(revision)]
        let places = values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        try connection.rows("INSERT INTO attache_events (\(columns)) VALUES (\(places))", values)
    }

    /// Removes the events beyond the limit, but none of the latest revision.
    static func trim(_ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows(
            """
            DELETE FROM attache_events WHERE revision <
                (SELECT revision FROM attache_events ORDER BY revision DESC LIMIT 1 OFFSET \(capacity))
            """)
    }

    /// The events of other processes since a revision.
    static func events(
        since revision: Int64, besidesThoseOf audit: AuditTrail, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [AuditEvent] {
        let arguments: [DatabaseValue] = [.integer(revision), .text(audit.id)]
        let isNews = "FROM attache_events WHERE revision > $1 AND writer <> $2"
        let events = try connection.values(
            of: "SELECT \(columns) \(isNews) ORDER BY revision LIMIT \(limit)", arguments
        ) { AuditEvent(row: $0) }
        guard events.count == limit else { return events }
        let count = try connection.rows("SELECT COUNT(*) \(isNews)", arguments).first?.first?.integer ?? 0
        guard count > Int64(limit) else { return events }
        var omission = AuditEvent(.eventsOmitted, by: .proxy)
        omission.count = Int(clamping: count) - limit
        return events + [omission]
    }
}

extension AuditEvent {
    init(_ edit: StoredCredentials.Edit, by actor: Actor) {
        switch edit {
        case .set(let credential, let space, let asDefault):
            let name = space.credentialName(of: credential.storedName(for: space) ?? "")
            let exception = credential.trustException
            self.init(
                exception == nil ? .credentialSet : .trustSet, by: actor, space, credential: name,
                details: exception.map { "until \($0.until)" })
            isDefault = asDefault
        case .remove(let user, let space):
            let isTrust = space.authenticationMethod.storedKind == .trust
            self.init(
                isTrust ? .trustRemoved : .credentialRemoved, by: actor, space,
                credential: space.credentialName(of: user))
        case .makeDefault(let user, let space):
            self.init(.credentialDefault, by: actor, space, credential: space.credentialName(of: user))
            isDefault = true
        }
    }

    /// All columns except the last.
    fileprivate func columns(writtenBy writer: String, at machine: String) -> [DatabaseValue] {
        let noSpace: [DatabaseValue] = [.words(server), .integer(0), .text(""), .integer(0), .text(""), .text("")]
        return (space.map(\.columns) ?? noSpace)
            + [.time(SystemClock.wallTime), .text(writer), .text(name.rawValue)]
            + [
                .words(credential), .integer(isDefault ? 1 : 0), .time(nextTry ?? 0), .words(details),
            ] + actor.columns + [.words(machine)]
    }

    /// Nil for an event that this version does not know.
    fileprivate init?(row: some DatabaseRow) {
        guard let time = row.time(6), let name = row.text(8).flatMap(Name.init(rawValue:)),
            let actor = Actor(row: row), let machine = row.text(17)
        else { return nil }
        self.init(name, by: actor, ProtectionSpace(row: row), credential: row.said(9), details: row.said(12))
        if space == nil { server = row.said(0) }
        isDefault = row.integer(10) == 1
        nextTry = row.time(11).flatMap { $0 == 0 ? nil : $0 }
        if name == .credentialLearned { persistence = .permanent }
        elsewhere = Elsewhere(replica: machine, time: max(0, time))
    }
}

extension AuditEvent.Actor {
    /// The columns: actor, uid, client, user.
    fileprivate var columns: [DatabaseValue] {
        let (word, uid, client, user) = parts
        return [.text(word), .integer(uid.map(Int64.init) ?? -1), .words(client), .words(user)]
    }

    fileprivate init?(row: some DatabaseRow) {
        let uid = row.integer(14).flatMap { UInt32(exactly: $0) }
        switch row.text(13) {
        case "proxy": self = .proxy
        case "file": self = .file
        case "dashboard": self = .dashboard
        case "client": self = .client(address: row.said(15) ?? "", user: row.said(16))
        case "command":
            guard let uid else { return nil }
            self = .command(user: uid)
        case "signal": self = .signal(user: uid)
        default: return nil
        }
    }
}

extension DatabaseValue {
    /// The limit of stored characters; the log shows no more.
    private static let longest = 256

    /// A text from outside; databases cannot store a zero byte.
    fileprivate static func words(_ text: String?) -> DatabaseValue {
        .text(String((text ?? "").prefix(longest).filter { $0 != "\0" }))
    }
}

extension DatabaseRow {
    fileprivate func said(_ column: Int) -> String? { text(column).flatMap { $0.isEmpty ? nil : $0 } }
}
