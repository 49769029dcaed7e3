import Bytes
import CPostgreSQL
import Glibc

/// A connection to a PostgreSQL server, or to a server with its protocol. Every call blocks; one thread at a time.
public final class PostgreSQLConnection: SQLConnection {
    private let connection: OpaquePointer
    let library: libpq
    /// The SQLSTATE with which the server refused the last statement, if the connection still works.
    private var refusal: String?

    /// The type numbers of the server's catalogue.
    enum TypeNumber {
        static let bytes: Oid = 17
        static let text: Oid = 25
        static let integers: [Oid] = [20, 21, 23]
    }

    /// Connects, and waits for a few seconds at most.
    ///
    /// - Parameter info: a connection string or URI of libpq. It may contain a password: errors do not repeat it.
    public init(_ info: String) throws(DatabaseError) {
        guard let library = Self.loadedLibrary else {
            throw .unavailable("the PostgreSQL client library is not installed here (libpq.so.5, Debian's libpq5)")
        }
        self.library = library
        // A later keyword takes precedence only over an expanded `dbname`, hence the order.
        let keywords = [
            "connect_timeout", "tcp_user_timeout", "keepalives_idle", "application_name", "client_encoding", "dbname",
        ]
        let values = ["5", "10000", "10", "attache", "UTF8", info]
        let opened = Self.withArrays(keywords, values) { library.connectdbParams($0, $1, 1) }
        guard let opened else { throw .unavailable("there is no memory for a connection") }
        guard library.status(opened) == CONNECTION_OK else {
            let cause = Self.sentence(library.errorMessage(opened))
            library.finish(opened)
            throw .unavailable(cause)
        }
        connection = opened
        // A server's notices must not be written to standard error.
        _ = library.setNoticeProcessor(opened, { _, _ in }, nil)
    }

    deinit { library.finish(connection) }

    @discardableResult
    public func rows(_ sql: String, _ parameters: [DatabaseValue]) throws(DatabaseError) -> [[DatabaseValue]] {
        try send(sql, parameters, resultFormat: 0)
        guard let result = try nextResult() else { throw failure(nil) }
        defer { library.clear(result) }
        // There is one result, and then the end.
        while let other = try nextResult() { library.clear(other) }
        switch library.resultStatus(result) {
        case PGRES_COMMAND_OK: return []
        case PGRES_TUPLES_OK: break
        default: throw failure(result)
        }
        return (0..<library.ntuples(result)).map { row in
            (0..<library.nfields(result)).map { value(of: result, row, $0) }
        }
    }

    /// Sets the isolation level, since the server's default may be another: a writer that waited for another one would
    /// fail.
    public static var transactionStart: String { "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" }
    public static var snapshotStart: String { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" }

    public func forEachRow(
        _ sql: String, _ parameters: [DatabaseValue], _ body: (any DatabaseRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try send(sql, parameters, resultFormat: 1)
        guard library.setSingleRowMode(connection) == 1 else { throw failure(nil) }
        var trouble: DatabaseError?
        // Reads all results in any case: the connection cannot be used before.
        while let result = try nextResult() {
            defer { library.clear(result) }
            switch library.resultStatus(result) {
            case _ where trouble != nil: continue
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: continue
            case PGRES_SINGLE_TUPLE:
                do throws(DatabaseError) {
                    try body(PostgreSQLConnection.Row(connection: self, result: result))
                } catch { trouble = error }
            default: trouble = failure(result)
            }
        }
        if let trouble { throw trouble }
    }

    /// Sends a statement. A text with a zero byte is refused: the server cannot store it, and libpq would truncate it.
    ///
    /// - Parameter resultFormat: 0 for text, 1 for binary.
    private func send(_ sql: String, _ parameters: [DatabaseValue], resultFormat: Int32) throws(DatabaseError) {
        let isHeld = parameters.allSatisfy { $0.text?.utf8.contains(0) != true }
        if !isHeld { throw .failed("a text has a zero byte in it") }
        let isSent = Parameters(parameters).withPointers { types, values, lengths, formats in
            library.sendQueryParams(
                connection, sql, Int32(parameters.count), types, values, lengths, formats, resultFormat)
        }
        guard isSent == 1 else { throw failure(nil) }
    }

    /// The time that a server may be silent during a statement. A proxy such as PgBouncer may keep a statement
    /// for minutes while its server is down.
    private static let patience = Milliseconds.seconds(10)

    /// The next result; nil at the end. If the server is silent, the connection cannot be used again.
    private func nextResult() throws(DatabaseError) -> OpaquePointer? {
        while library.isBusy(connection) == 1 {
            var watched = pollfd(fd: library.socket(connection), events: Int16(POLLIN), revents: 0)
            let ready = poll(&watched, 1, Int32(clamping: Self.patience.count))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else {
                throw .unavailable("it has not answered for \(Self.patience.seconds) seconds")
            }
            guard library.consumeInput(connection) == 1 else {
                throw .unavailable(Self.sentence(library.errorMessage(connection)))
            }
        }
        return library.getResult(connection)
    }

    /// Subscribes to the notifications of a channel.
    ///
    /// - Returns: false if the server refuses: a standby, or a server with this protocol but without LISTEN.
    @discardableResult
    public func listen(to channel: String) throws(DatabaseError) -> Bool {
        refusal = nil
        do throws(DatabaseError) { try rows("LISTEN \(channel)") } catch {
            // The states: standby; not supported; unknown statement.
            if let refusal, ["25006", "0A000", "42601"].contains(refusal) { return false }
            throw error
        }
        return true
    }

    /// Waits for notifications of the subscribed channels.
    ///
    /// - Returns: the payloads of the notifications.
    public func notifications(within limit: Milliseconds) throws(DatabaseError) -> [String] {
        let arrived = takeNotifications()
        if !arrived.isEmpty { return arrived }
        var watched = pollfd(fd: library.socket(connection), events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, Int32(clamping: limit.count)) > 0 else { return [] }
        guard library.consumeInput(connection) == 1 else {
            throw .unavailable(Self.sentence(library.errorMessage(connection)))
        }
        return takeNotifications()
    }

    private func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = library.notifies(connection) {
            payloads.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
            library.freemem(notification)
        }
        return payloads
    }

    // MARK: - Values

    private func value(of result: OpaquePointer?, _ row: Int32, _ column: Int32) -> DatabaseValue {
        guard library.getisnull(result, row, column) == 0, let start = library.getvalue(result, row, column) else {
            return .null
        }
        let type = library.ftype(result, column)
        if type == TypeNumber.bytes {
            var count = 0
            let plain = start.withMemoryRebound(to: UInt8.self, capacity: 1) { library.unescapeBytea($0, &count) }
            defer { library.freemem(plain) }
            return .bytes(Array(UnsafeBufferPointer(start: plain, count: plain == nil ? 0 : count)))
        }
        guard let text = String(validatingCString: start) else { return .null }
        if TypeNumber.integers.contains(type), let number = Int64(text) { return .integer(number) }
        return .text(text)
    }

    /// The parameters in the form of libpq; bytes in binary, all others as text.
    private struct Parameters {
        private let types: [Oid]
        private let contents: [[UInt8]?]
        private let lengths: [Int32]
        private let formats: [Int32]

        init(_ values: [DatabaseValue]) {
            types = values.map { value in
                switch value {
                case .bytes: TypeNumber.bytes
                case .integer: 20
                case .text: TypeNumber.text
                case .null: 0
                }
            }
            contents = values.map { value in
                switch value {
                case .null: nil
                case .integer(let number): Array("\(number)".utf8) + [0]
                case .text(let text): Array(text.utf8) + [0]
                case .bytes(let bytes): bytes
                }
            }
            lengths = contents.map { Int32(clamping: $0?.count ?? 0) }
            formats = values.map { if case .bytes = $0 { 1 } else { 0 } }
        }

        func withPointers<Result>(
            _ body: ([Oid], [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
        ) -> Result {
            // One block contains all values; a null pointer would mean null.
            let offsets = contents.reduce(into: [0]) { $0.append(($0.last ?? 0) + ($1?.count ?? 0)) }
            let block = UnsafeMutableBufferPointer<CChar>.allocate(capacity: (offsets.last ?? 0) + 1)
            defer { block.deallocate() }
            var pointers: [UnsafePointer<CChar>?] = []
            for (content, offset) in zip(contents, offsets) {
                guard let content else {
                    pointers.append(nil)
                    continue
                }
                for (place, byte) in content.enumerated() { block[offset + place] = CChar(truncatingIfNeeded: byte) }
                pointers.append(block.baseAddress.map { UnsafePointer($0 + offset) })
            }
            return body(types, pointers, lengths, formats)
        }
    }

    // MARK: - Errors

    private func failure(_ result: OpaquePointer?) -> DatabaseError {
        let cause = Self.sentence(library.resultErrorMessage(result))
        if library.status(connection) != CONNECTION_OK { return .unavailable(cause) }
        let state = library.resultErrorField(result, Self.sqlState).map { String(cString: $0) } ?? ""
        refusal = state
        // Classes of SQLSTATE: insufficient resources, operator intervention, connection exception.
        if state == "53100" { return .full(cause) }
        // A standby: the address will belong to another server, or this one will be the primary, before long.
        if ["25006", "0A000"].contains(state) { return .unavailable(cause) }
        return ["53", "57", "08"].contains(state.prefix(2)) ? .unavailable(cause) : .failed(cause)
    }

    /// `PG_DIAG_SQLSTATE` is a character constant.
    private static let sqlState = Int32(UInt8(ascii: "C"))

    /// The first line of a message, since libpq's may have several.
    private static func sentence(_ message: UnsafePointer<CChar>?) -> String {
        let lines = message.map { String(cString: $0) }?.split(whereSeparator: \.isNewline) ?? []
        return lines.first.map(String.init) ?? "the connection was lost"
    }

    private static func withArrays<Result>(
        _ keywords: [String], _ values: [String],
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = (keywords + values).map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } }
        return body(pointers[..<keywords.count] + [nil], pointers[keywords.count...] + [nil])
    }

    /// A result in binary form with one row.
    fileprivate struct Row: DatabaseRow {
        let connection: PostgreSQLConnection
        let result: OpaquePointer

        func integer(_ column: Int) -> Int64? {
            guard TypeNumber.integers.contains(type(of: column)), let content = content(column) else { return nil }
            // Two, four or eight bytes, the most significant first.
            let bits = content.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let unused = UInt64.bitWidth - content.count * 8
            return unused < 0 ? nil : Int64(bitPattern: bits << UInt64(unused)) >> Int64(unused)
        }

        func text(_ column: Int) -> String? {
            content(column, of: TypeNumber.text).flatMap { String(validating: $0, as: UTF8.self) }
        }

        func words(_ column: Int) -> String {
            if let number = integer(column) { return "\(number)" }
            return content(column, of: TypeNumber.text).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }

        func bytes(_ column: Int) -> [UInt8]? { content(column, of: TypeNumber.bytes).map { Array($0) } }

        private func type(of column: Int) -> Oid { connection.library.ftype(result, Int32(clamping: column)) }

        private func content(_ column: Int, of type: Oid) -> UnsafeRawBufferPointer? {
            self.type(of: column) == type ? content(column) : nil
        }

        private func content(_ column: Int) -> UnsafeRawBufferPointer? {
            let column = Int32(clamping: column)
            guard connection.library.getisnull(result, 0, column) == 0 else { return nil }
            return UnsafeRawBufferPointer(
                start: connection.library.getvalue(result, 0, column),
                count: Int(connection.library.getlength(result, 0, column)))
        }
    }

    /// Loads libpq at its first use; it stays loaded.
    private static let loadedLibrary: libpq? = {
        var table = libpq()
        return libpq_load(&table) ? table : nil
    }()
}
