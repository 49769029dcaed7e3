/// Times in the form of RFC 3339, such as `2026-11-27T04:00:00.25Z`.
public enum InternetTime {
    /// The time; nil if it has another form, or is before 1970.
    public static func time(_ text: Span<UInt8>) -> WallTime? {
        guard (20...64).contains(text.count), separators(text), let year = number(text, 0..<4), year >= 1970,
            let month = number(text, 5..<7), (1...12).contains(month), let day = number(text, 8..<10),
            (1...31).contains(day), let hour = number(text, 11..<13), hour < 24, let minute = number(text, 14..<16),
            minute < 60, let second = number(text, 17..<19), second <= 60
        else { return nil }
        var index = 19
        var fraction = 0
        if text[index] == UInt8(ascii: ".") {
            index += 1
            var weight = 100
            let start = index
            while index < text.count, let digit = number(text, index..<index + 1) {
                fraction += digit * weight
                weight /= 10
                index += 1
            }
            guard index > start else { return nil }
        }
        guard let offset = offset(text, from: index) else { return nil }
        let days = CivilTime.days(year: year, month: month, day: day)
        return WallTime(seconds: ((days * 24 + hour) * 60 + minute - offset) * 60 + second) + Milliseconds(fraction)
    }

    private static func separators(_ text: Span<UInt8>) -> Bool {
        text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-") && (text[10] | 0x20) == UInt8(ascii: "t")
            && text[13] == .colon && text[16] == .colon
    }

    /// The minutes by which the zone is ahead of Universal Time; nil if the text does not end with a zone.
    private static func offset(_ text: Span<UInt8>, from index: Int) -> Int? {
        guard index < text.count else { return nil }
        if text[index] | 0x20 == UInt8(ascii: "z") { return index + 1 == text.count ? 0 : nil }
        guard text.count == index + 6, text[index + 3] == .colon, let hours = number(text, index + 1..<index + 3),
            let minutes = number(text, index + 4..<index + 6)
        else { return nil }
        switch text[index] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var number = 0
        for index in range {
            guard text[index] >= UInt8(ascii: "0"), text[index] <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(text[index] - UInt8(ascii: "0"))
        }
        return number
    }
}
