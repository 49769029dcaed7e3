import Bytes
import Database

extension DatabaseValue {
    /// A time, as the milliseconds since 1970.
    static func time(_ time: WallTime) -> DatabaseValue { .integer(Int64(time.milliseconds)) }
}

extension DatabaseRow {
    /// The time in a column; nil if the column has no number.
    func time(_ column: Int) -> WallTime? { integer(column).map { WallTime(milliseconds: Int(clamping: $0)) } }
}
