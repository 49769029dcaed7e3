/// One row of an answer, for as long as it is lent. Columns count from 0; what a column holds of another kind is nil, and
/// so is a text that is no UTF-8.
public protocol DatabaseRow {
    func integer(_ column: Int) -> Int64?
    func text(_ column: Int) -> String?
    func bytes(_ column: Int) -> [UInt8]?
    /// What a column holds, for a message: an integer or a text, in which bytes that are no UTF-8 are replaced.
    func words(_ column: Int) -> String
}
