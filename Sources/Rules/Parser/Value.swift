/// One argument, with what stood for it in the file.
struct Value {
    enum Origin: Equatable {
        case written
        /// `env NAME` or `file PATH`. The text came from outside, so no diagnostic may quote it.
        case environment(String)
        case file(String)
    }

    let text: String
    let isQuoted: Bool
    let range: SourceRange
    var origin = Origin.written
    var isSecret = false

    /// As a diagnostic's sentence may show it.
    var shown: String {
        switch origin {
        case .written: isSecret ? "this value" : Token.shown(text)
        case .environment(let name): "the value of 'env \(name)'"
        case .file: "the content of this file"
        }
    }
}
