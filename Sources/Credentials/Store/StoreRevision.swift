/// How far a store has come: every change has a greater number than those before.
struct StoreRevision: Sendable, Hashable {
    let latest: Int64
    /// When refusals last changed.
    let refusals: Int64
    /// Removals up to this one are not on record any more.
    let forgotten: Int64
}
