import Database
import IO

/// Tells whether a store's file still holds what its connection knows of. SQLite asks only its log for changes: what is
/// copied over the file goes unnoticed, and mixes with what the log holds.
///
/// The file may change only when somebody copies from the log into it. If it changed though nobody has, and begins
/// otherwise than before, then it was written over; each of our changes has it begin otherwise.
struct SQLiteFileWatch {
    enum Finding {
        case same
        /// Written over, as a whole or not as a whole yet.
        case replaced(isWhole: Bool)
    }

    private let path: String
    private var known: Known?

    private struct Known {
        let stamp: FileStamp?
        let header: [UInt8]
        var copied: SQLiteDatabase.LogPosition
    }

    init(_ path: String) { self.path = path }

    /// Looks at the file beneath the connection.
    mutating func look(_ database: SQLiteDatabase) -> Finding {
        let position = database.logPosition
        // Somebody may begin to copy only after the file was looked at.
        if let position, let known, FileStamp(path: path) == known.stamp,
            position == known.copied || position.isSettled
        {
            self.known?.copied = position
            return .same
        }
        let present = database.surface { surface in
            Known(stamp: FileStamp(path: path), header: surface.header, copied: surface.copied)
        }
        guard let present else { return .same }
        // Where somebody was killed as he copied, the next one's work looks like no copying.
        if let known, known.stamp != present.stamp, known.copied == present.copied, known.copied.isSettled,
            known.header != present.header
        {
            return .replaced(isWhole: Self.isWhole(present.header, present.stamp?.size ?? 0))
        }
        known = present
        return .same
    }

    /// Whether a file of that size is as long as it says itself (Database File Format, section 1.3).
    private static func isWhole(_ header: [UInt8], _ size: Int) -> Bool {
        guard size >= header.count else { return false }
        // What is no database at all says so when it is opened.
        guard header.starts(with: Array("SQLite format 3\0".utf8)) else { return true }
        let number = { (range: Range<Int>) in header[range].reduce(0) { $0 << 8 | Int($1) } }
        let pageSize = number(16..<18) == 1 ? 65536 : number(16..<18)
        return size >= number(28..<32) * pageSize
    }
}
