/// Numbers as people read them.
enum Figure {
    /// Three significant digits or all whole ones, with separators between thousands.
    static func text(_ number: Double) -> String {
        switch number.magnitude {
        case 100...: grouped(Int(number.rounded()))
        case 10..<100: fixed(number, digits: 1)
        case 0: "0"
        case ..<0.1: fixed(number, digits: 4)
        default: fixed(number, digits: 2)
        }
    }

    static func fixed(_ number: Double, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((number.magnitude * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(number < 0 ? "-" : "")\(scaled / scale).\(zeros)\(fraction)"
    }

    private static func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }
}
