/// A start tag.
struct HTMLTag: Equatable {
    struct Attribute: Equatable {
        /// In lower case.
        let name: String
        /// In the document, without quotes; with its character references.
        let value: Range<Int>
    }

    /// In lower case.
    let name: String
    let attributes: [Attribute]

    /// Where the value of an attribute stands; of several with one name the first counts.
    subscript(name: String) -> Range<Int>? {
        attributes.first { $0.name == name }?.value
    }
}
