/// Why what is to be explained cannot be: it is no request that a client could send.
struct ExplanationError: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}
