//! Rules that the fields of a request body can break, as texts with codes.

use crate::coded_text::coded_texts;

impl FieldRule {
    /// Returns the rule that an error message of serde states.
    #[must_use]
    pub fn of_serde(message: &str) -> Self {
        let names = |text: &str| text.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(", ");
        let expected = message.rsplit_once(", expected ").map_or("", |(_, expected)| expected);
        if message.starts_with("missing field ") {
            Self::FieldMissing
        } else if message.starts_with("unknown field ") {
            Self::FieldUnknown { fields: names(expected) }
        } else if message.starts_with("unknown variant ") {
            Self::Choice { choices: names(expected) }
        } else if ["invalid type", "invalid value"].iter().any(|start| message.starts_with(start)) {
            match expected {
                "a boolean" => Self::Boolean,
                "a map" => Self::Object,
                "a sequence" => Self::List,
                text if text.contains("string") => Self::Text,
                text if text.starts_with("struct ") => Self::Object,
                "f32" | "f64" => Self::Number,
                "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize" => Self::Integer,
                _ => Self::Value { message: format!("must be {expected}") },
            }
        } else if message.starts_with("UUID parsing failed") {
            Self::Value { message: "must be a UUID".to_owned() }
        } else {
            Self::Value { message: message.to_owned() }
        }
    }
}

coded_texts! {
    /// Rule that a field of a request body breaks.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FieldRule as "field-rule" {
        Name = "name", "1 to 80 characters on one line, without invisible characters";
        Description = "description", "at most 4,000 characters, without NUL";
        Image = "image", "an image reference of 1 to 255 characters, as in quay.io/jupyter/base-notebook:latest";
        PortRequired = "port-required", "required for app_type custom: the port that the app listens on";
        PortReserved = "port-reserved", "8080 and 8081 are the sidecar's; let the app listen on another port";
        PortRange = "port-range", "1 to 65535";
        StartPath = "start-path",
            "a path of the app that begins with one slash, without spaces, as in /vnc.html?autoconnect=1";
        /// The command or the arguments have too many words.
        WordCount = "word-count", "at most 64 words";
        Word = "word", "at most 4,096 bytes, without NUL";
        VariableCount = "variable-count", "at most 64 variables";
        VariableName = "variable-name",
            "a variable's name has letters, digits and _, and does not start with a digit";
        VariableReserved = "variable-reserved",
            "DISABLE_AUTH and SERVICE_… are set by the service; choose another name";
        VariableValue = "variable-value", "a variable's value has at most 32 KiB, without NUL";
        Duration = "duration", "60 to 2592000 seconds (one minute to 30 days)";
        MaxLifetimeTooShort = "max-lifetime-too-short", "at least the lifetime (lifetime_seconds)";
        ExtensionTooLong = "extension-too-long", "at most the maximum lifetime (max_lifetime_seconds)";
        /// A quantity of CPU or memory is unreadable. `text` is its text in quotation marks.
        Quantity { text } = "quantity",
            "{text} is not a Kubernetes quantity above zero: write for example 500m or 2 for CPU, 512Mi or 2Gi for memory";
        /// The amount of memory is too small for any app. `text` is its text in quotation marks.
        MemoryTooSmall { text } = "memory-too-small",
            "{text} is less than 1Mi: for memory, write for example 512Mi or 2Gi; m means thousandths of a byte";
        CpuRequestTooLarge = "cpu-request-too-large", "at most the maximum CPU (cpu_limit)";
        MemoryRequestTooLarge = "memory-request-too-large", "at most the maximum memory (memory_limit)";
        /// The size of the storage is unreadable or too small. `text` is its text in quotation marks.
        StorageSize { text } = "storage-size",
            "{text} is not a size of at least 1Mi: write for example 500Mi or 5Gi";
        StoragePath = "storage-path",
            "a directory such as /home/jovyan, without colons, commas and .., and outside of /etc, /tmp and the like";
        StoragePathRequired = "storage-path-required",
            "required for app_type custom: the directory in which the app stores the user's files";
        SnapshotOfOtherTemplate = "snapshot-of-other-template",
            "these files are from another template: launch the template in the snapshot's template_id";
        SnapshotWithVolume = "snapshot-with-volume",
            "this template keeps files now, and an earlier archive would mix with them: launch without it, and upload the files";
        SnapshotWithoutDirectory = "snapshot-without-directory",
            "on a cluster, the template needs a directory whose files survive a crash of the app: launch without it, and upload the files";
        MaterialSourceCount = "material-source-count", "1 to 5 sources; none only if links can name a repository";
        MaterialUrl = "material-url",
            "an address that begins with http:// or https://, without a user, as in https://git.example.org/statistics/101.git";
        MaterialReference = "material-reference", "a branch, a tag or a full commit id, as in main";
        /// An archive has a reference.
        MaterialOnlyGit = "material-only-git", "only for a git repository; leave it empty for an archive";
        /// A repository has a SHA-256.
        MaterialOnlyArchive = "material-only-archive", "only for an archive; leave it empty for a git repository";
        MaterialSha256 = "material-sha256",
            "required for an archive: 64 hexadecimal digits, which the command sha256sum prints";
        MaterialFolder = "material-folder", "a relative path inside of the source, without .., as in week1/data";
        MaterialSecret = "material-secret",
            "the name of a secret, not a password: 1 to 63 characters a-z, 0-9 and hyphens, as in statistics";
        MaterialSecretHttps = "material-secret-https", "the address must begin with https:// because the source has a secret";
        MaterialSecretUnchecked = "material-secret-unchecked",
            "a source with a secret cannot be checked: save the template and try it";
        MaterialTarget = "material-target",
            "1 to 64 letters, digits, dots, hyphens and underscores, not beginning with a dot, as in statistics-101";
        MaterialTargetRepeated { target } = "material-target-repeated", "the directory {target} is given twice";
        MaterialDirectoryRequired = "material-directory-required",
            "required for app_type custom without storage: the directory of the app that gets the files";
        MaterialDirectoryOfStorage = "material-directory-of-storage",
            "with storage, the files are at the path of the storage: leave the directory empty";
        MaterialPrefixCount = "material-prefix-count", "at most 10 addresses";
        MaterialPrefix = "material-prefix",
            "the beginning of an address with https://, without a query and .., as in https://git.example.org/statistics/";
        RepositoryNotAllowed = "repository-not-allowed",
            "the template does not allow a repository at this address: ask your teacher for another link";
        ParameterCount = "parameter-count", "at most 10 parameters";
        ParameterReserved { name } = "parameter-reserved", "{name} is set by the service; choose another name";
        ParameterInEnv { name } = "parameter-in-env", "{name} is also in env: remove one of them";
        ParameterRepeated { name } = "parameter-repeated", "the parameter {name} is given twice";
        ParameterHelp = "parameter-help", "at most 300 characters on one line, without invisible characters";
        ParameterField { kind } = "parameter-field", "not possible for a parameter of the kind {kind}";
        ParameterChoices = "parameter-choices", "2 to 50 different choices, each of 1 to 200 characters on one line";
        /// The maximum length of a parameter is out of range.
        ParameterLength = "parameter-length", "1 to 1000";
        /// The maximum of a parameter is less than its minimum.
        ParameterRange = "parameter-range", "at least min";
        ParameterUnknown { name } = "parameter-unknown", "the template has no parameter {name}";
        ParameterRequired = "parameter-required", "a value is required";
        ParameterLine = "parameter-line", "one line, without control characters";
        ParameterTooLong { max } = "parameter-too-long", "at most {max} characters";
        ParameterChoice = "parameter-choice", "one of the choices of the template";
        ParameterNumber = "parameter-number", "a number such as 12 or 0.5";
        ParameterInteger = "parameter-integer", "a whole number such as 12";
        ParameterMin { min } = "parameter-min", "at least {min}";
        ParameterMax { max } = "parameter-max", "at most {max}";
        PodTemplateSize = "pod-template-size", "at most 32 KiB as JSON, without NUL";
        /// A pod template has a field that a template cannot set. `fields` lists the fields that it can set there.
        PodTemplateField { fields } = "pod-template-field",
            "a template cannot set this field. It can set here: {fields}";
        PodTemplateReserved { name } = "pod-template-reserved", "{name} is reserved for the launcher";
        /// The policy of the installation does not allow a pod template to use this. `entry` is the missing entry.
        PodTemplateForbidden { entry } = "pod-template-forbidden",
            "needs the entry {entry} in SERVICE_POD_TEMPLATE_ALLOW, which an administrator of the installation sets";
        PodTemplateRepeated { name } = "pod-template-repeated", "{name} is given twice";
        PodTemplateVariable { name } = "pod-template-variable", "{name} is also in env: remove one of them";
        PodTemplateContainer = "pod-template-container",
            "app is the only container of a template. Write programs that run before it in initContainers";
        PodTemplateVolume { name } = "pod-template-volume", "spec.volumes has no volume {name}";
        /// An entry of a pod template has no source, or more than one. `sources` lists the supported ones.
        PodTemplateSource { sources } = "pod-template-source", "exactly one of: {sources}";
        PodTemplateName = "pod-template-name",
            "1 to 63 characters: a-z, 0-9 and hyphens, with a letter or a digit at both ends";
        PodTemplatePath = "pod-template-path", "a path that begins with /, without a colon and without ..";
        PodTemplateResource { name } = "pod-template-resource", "set {name} in the template's field resources instead";
        TagCount = "tag-count", "at most 8 tags";
        Tag = "tag", "1 to 30 characters on one line, without commas and invisible characters";
        /// A tag equals an earlier one, regardless of case.
        TagRepeated { tag } = "tag-repeated", "the tag {tag} is given twice";
        Slug = "slug",
            "2 to 40 characters: a-z, 0-9 and hyphens, with a letter or a digit at both ends, as in statistics-101";
        SlugTaken { slug } = "slug-taken", "another template has the slug {slug}; choose another one";
        ClassSlugTaken { slug } = "class-slug-taken", "another class has the slug {slug}; choose another one";
        WorkshopCount = "workshop-count", "1 to 10000 workshops";
        QueueWeight = "queue-weight", "1 to 10";
        Day = "day", "a day, as in 2026-09-30";
        DayBeforeFirst = "day-before-first", "at the earliest the first day (starts_on)";
        MemberCount = "member-count", "a class has at most 1000 members";
        SeatCount = "seat-count", "1 to 1000 people";
        MailDomain = "mail-domain", "a domain of e-mail addresses, as in example.org";
        TemplateCount = "template-count", "a file has at most 200 templates";
        LastTeacher = "last-teacher", "a class needs a teacher: make another member a teacher first";
        ClassMessage = "class-message", "1 to 500 characters, without invisible characters";
        ClassHome = "class-home",
            "a class cannot use the home directory that its members have in other workshops: choose kept or workshop";
        /// A class does not allow the image of a template. `images` lists the allowed ones.
        ImageNotAllowed { images } = "image-not-allowed", "this class allows only these images: {images}";
        /// A class does not allow the resources of a template. `sizes` lists the allowed sizes.
        SizeNotAllowed { sizes } = "size-not-allowed", "this class allows only these sizes: {sizes}";
        ImagePattern = "image-pattern",
            "an image as in quay.io/jupyter/base-notebook, or the beginning of images as in quay.io/jupyter/*";
        /// The launcher has no size with this name. `sizes` lists those that it has.
        SizeUnknown { sizes } = "size-unknown", "is not a size of this launcher; the sizes are: {sizes}";
        PolicyCount = "policy-count", "at most 50 entries";
        ClassCount { limit } = "class-count",
            "you may have {limit} classes that are not over: end one in its settings, or ask an administrator";
        OnlyAdmins = "only-admins", "only an administrator can set this: ask one, or leave it empty";
        Addresses = "addresses", "a list of e-mail addresses";
        Address = "address", "an e-mail address, as in alice@example.org";
        Object = "object", "must be an object";
        Text = "type-text", "must be a string";
        Integer = "type-integer", "must be a whole number";
        Number = "type-number", "must be a number";
        List = "type-list", "must be an array";
        Boolean = "type-boolean", "must be true or false";
        /// A value is none of these. `choices` lists the valid ones.
        Choice { choices } = "choice", "must be one of: {choices}";
        FieldMissing = "field-missing", "is required, and missing";
        /// A field does not exist. `fields` lists those that do.
        FieldUnknown { fields } = "field-unknown", "is not a field here; the fields are: {fields}";
        /// A value is wrong in another way. `message` is an English phrase.
        Value { message } = "value", "{message}";
        /// The first word of a command has white space. `word` is this word, and `words` the same as several words, as JSON.
        CommandUnsplit { word, words } = "command-unsplit",
            "names one program with spaces in its name: {word}. Write its words separately: {words}";
        ReadOnly = "read-only",
            "is read-only and differs from the current value: omit it, or read the template again";
        /// A query parameter or a header is wrong. `message` is an English sentence.
        Parameter { message } = "parameter", "{message}";
    }
}
