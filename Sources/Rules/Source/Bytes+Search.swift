import Bytes

extension Collection<UInt8> where Index == Int {
    /// Where the first `word` begins, without regard to ASCII case; `word` is lower case and not empty. The standard
    /// library's search would link the regular-expression engine.
    func firstIndex(ofWord word: String) -> Int? {
        let word = Array(word.utf8)
        guard let first = word.first, count >= word.count else { return nil }
        for start in startIndex...endIndex - word.count where self[start].asciiLowercased == first {
            var offset = 1
            while offset < word.count, self[start + offset].asciiLowercased == word[offset] { offset += 1 }
            if offset == word.count { return start }
        }
        return nil
    }
}
