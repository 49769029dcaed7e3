/// One row of an answer, for as long as it is lent. Columns count from 0; what a column holds of another kind is nil.
public protocol DatabaseRow {
    func integer(_ column: Int) -> Int64?
    func text(_ column: Int) -> String?
    func bytes(_ column: Int) -> [UInt8]?
}
