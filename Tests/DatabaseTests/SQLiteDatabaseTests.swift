import Foundation
import Testing

@testable import Database

@Suite struct SQLiteDatabaseTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "attache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    @Test func `every kind of value comes back as it went in`() throws {
        try inFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            try database.rows("CREATE TABLE t (a, b, c, d, e)")
            let values: [DatabaseValue] = [
                .null, .integer(.min), .text("ä\u{1F600}"), .bytes([0, 1, 255]), .bytes([]),
            ]
            try database.rows("INSERT INTO t VALUES ($1, $2, $3, $4, $5)", values)
            #expect(try database.rows("SELECT a, b, c, d, e FROM t") == [values])
        }
    }

    @Test func `the changes of a transaction that throws are not there`() throws {
        try inFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            try database.rows("CREATE TABLE t (a UNIQUE)")
            #expect(throws: DatabaseError.self) {
                try database.transaction { () throws(DatabaseError) in
                    try database.rows("INSERT INTO t VALUES (1)")
                    try database.rows("INSERT INTO t VALUES (1)")
                }
            }
            #expect(try database.rows("SELECT a FROM t").isEmpty)
            try database.transaction { () throws(DatabaseError) in _ = try database.rows("INSERT INTO t VALUES (1)") }
            #expect(try database.rows("SELECT a FROM t") == [[.integer(1)]])
        }
    }

    @Test func `a file that is no database is refused as that`() throws {
        try inFolder { folder in
            try Data("this is a text file, and a long one at that".utf8).write(to: URL(filePath: folder + "/a.db"))
            #expect {
                try SQLiteDatabase(path: folder + "/a.db")
            } throws: { error in
                if case DatabaseError.unusable(let cause) = error { cause.hasPrefix("\(folder)/a.db: ") } else { false }
            }
            #expect {
                try SQLiteDatabase(path: folder + "/none/a.db")
            } throws: { error in
                if case DatabaseError.unavailable = error { true } else { false }
            }
        }
    }
}
