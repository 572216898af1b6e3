//! Bytes of XML as text.

/// An encoding that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Latin1,
}

impl Encoding {
    /// By the name in the declaration.
    pub fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "us-ascii" | "ascii" => Some(Self::Utf8),
            "iso-8859-1" | "latin1" | "latin-1" | "iso8859-1" => Some(Self::Latin1),
            _ => None,
        }
    }

    pub fn text(self, bytes: &[u8]) -> String {
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Self::Latin1 => bytes.iter().map(|&byte| char::from(byte)).collect(),
        }
    }

    /// With references to characters replaced; what is none stays.
    pub fn unescaped(self, bytes: &[u8]) -> String {
        let text = self.text(bytes);
        let mut result = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find('&') {
            result.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let found = after.char_indices().take(12).find(|(_, sign)| *sign == ';');
            if let Some((end, sign)) = found.and_then(|(end, _)| Some((end, reference(&after[..end])?))) {
                result.push(sign);
                rest = &after[end + 1..];
            } else {
                result.push('&');
                rest = after;
            }
        }
        result.push_str(rest);
        result
    }
}

/// The character that `&NAME;` stands for.
pub fn reference(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_and_what_is_none_stays() {
        let read = |text: &str| Encoding::Utf8.unescaped(text.as_bytes());
        assert_eq!(read("a &lt;b&gt; &amp;amp; &#233;&#x1F600; &quot;&apos;"), "a <b> &amp; é😀 \"'");
        assert_eq!(
            read("&nbsp; & &; &#xD800; &#99999999999; &veryveryverylong; &"),
            "&nbsp; & &; &#xD800; &#99999999999; &veryveryverylong; &"
        );
        assert_eq!(Encoding::Latin1.unescaped(b"\xe9&amp;"), "é&");
    }
}
