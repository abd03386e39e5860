//! Well-known given names and family names, and the syllables for the long tail of invented ones.
//!
//! Syllables that would form an offensive word with another are omitted, and so is the rare "u" between two of them.

pub(super) const FEMALE: &[&str] = &[
    "Anna", "Emma", "Mary", "Laura", "Julia", "Sarah", "Helen", "Alice", "Clara", "Grace", "Maria", "Ruth", "Elena",
    "Rose", "Nora", "Eva", "Ida", "Jane", "Lucy", "Sofia", "Marta", "Edith", "Irene", "Olga", "Vera", "Martha",
    "Teresa", "Monica", "Paula", "Carla", "Diana", "Flora", "Gloria", "Hannah", "Ingrid", "Joan", "Karen", "Linda",
    "Nina", "Petra", "Rita", "Silvia", "Tanya", "Ursula", "Wanda", "Yvonne", "Agnes", "Barbara", "Cecilia", "Doris",
    "Esther", "Frances", "Gertrude", "Hilda", "Isabel", "Judith", "Katherine", "Leah", "Margaret", "Naomi", "Olivia",
    "Patricia", "Rachel", "Susan", "Tina", "Victoria", "Zoe", "Amelia", "Beatrice", "Charlotte", "Dorothy", "Eleanor",
    "Fiona", "Georgia", "Harriet", "Iris", "Josephine", "Lydia", "Miriam", "Rebecca", "Sonia", "Violet", "Winifred",
    "Abigail", "Bridget", "Caroline", "Daphne", "Elizabeth", "Felicity", "Gemma", "Heather", "Imogen", "Jasmine",
    "Kirsten", "Louise", "Matilda", "Nadia", "Penelope", "Rosalind", "Stella", "Theodora", "Valerie", "Alma", "Berta",
    "Celia", "Delia", "Erica", "Greta", "Hazel", "Ivy", "Juniper", "Kate", "Lena", "Mabel", "Nell", "Opal", "Pearl",
    "Sally", "Tess", "Viola", "Willa", "Ada", "Bella", "Cora", "Dina", "Elsa", "Fern", "Gina", "Holly", "Ilse", "Jill",
    "Kim", "Lois", "Mona", "Norma", "Pia", "Rhea", "Selma", "Thea", "Una", "Vilma", "Yuki", "Zelda", "Aisha", "Fatima",
    "Leila", "Mei", "Priya", "Rania", "Sakura", "Tamar", "Amina",
];

pub(super) const FEMALE_ROOTS: &[&str] = &[
    "Ad", "Al", "Am", "An", "Ar", "Av", "Bel", "Ber", "Bet", "Bian", "Bren", "Bril", "Cal", "Cam", "Can", "Car", "Cel",
    "Chal", "Clar", "Cor", "Cris", "Dal", "Dan", "Dar", "Del", "Dor", "Dul", "Ed", "El", "Em", "Er", "Esm", "Ev",
    "Fal", "Fed", "Fel", "Fen", "Fil", "Flor", "Gal", "Gen", "Ger", "Gil", "Glen", "Gwen", "Hal", "Hel", "Her", "Il",
    "Im", "In", "Is", "Jan", "Jas", "Jen", "Jor", "Jul", "Kal", "Kar", "Kat", "Kel", "Ken", "Kir", "Lan", "Lar", "Lav",
    "Len", "Lil", "Lin", "Lor", "Luc", "Mad", "Mal", "Mar", "Mel", "Mer", "Mil", "Min", "Mor", "Nad", "Nal", "Nat",
    "Ner", "Nil", "Nor", "Ol", "Or", "Pam", "Pat", "Per", "Phil", "Pol", "Ren", "Ric", "Ros", "Sab", "Sal", "Sam",
    "Sar", "Sel", "Ser", "Shan", "Sil", "Sol", "Syl", "Tal", "Tam", "Tar", "Ter", "Til", "Tor", "Ul", "Val", "Van",
    "Ver", "Vin", "Viv", "Wen", "Wil", "Yas", "Yel", "Zan", "Zel", "Zor", "Aurel", "Calis", "Demer", "Evan", "Jocel",
    "Lorin", "Marcel", "Noem", "Oriel", "Rosal", "Tamir", "Valen", "Adel", "Cassand", "Domin", "Emel", "Gabr", "Henri",
    "Isol", "Jacin", "Leon", "Melis", "Octav", "Ravin", "Savan",
];

pub(super) const FEMALE_ENDINGS: &[&str] = &[
    "a", "ia", "ina", "etta", "ella", "elle", "ine", "ene", "issa", "anne", "abeth", "olyn", "ora", "isa", "ice",
    "ita", "ara", "inda", "ette", "iana", "ona", "una", "ira", "ana", "elina", "antha", "essa", "ya", "eth", "is",
    "ey", "ilda", "onia", "andra", "ivia", "een", "alyn", "orine", "ita", "ima", "isha",
];

pub(super) const MALE: &[&str] = &[
    "John", "James", "Peter", "Paul", "Thomas", "Martin", "Robert", "George", "Henry", "David", "Michael", "Daniel",
    "Andrew", "Philip", "Simon", "Victor", "Walter", "Oscar", "Arthur", "Charles", "Edward", "Frank", "Albert", "Adam",
    "Benjamin", "Carl", "Dennis", "Eric", "Felix", "Gregory", "Hugo", "Ivan", "Jacob", "Kevin", "Leo", "Mark",
    "Nicholas", "Otto", "Patrick", "Richard", "Samuel", "Stephen", "Theodore", "Vincent", "William", "Alexander",
    "Anthony", "Bernard", "Christopher", "Dominic", "Ernest", "Francis", "Gerald", "Harold", "Isaac", "Joseph",
    "Kenneth", "Lawrence", "Matthew", "Nathan", "Oliver", "Raymond", "Sebastian", "Timothy", "Vernon", "Winston",
    "Abraham", "Bruno", "Conrad", "Douglas", "Edgar", "Frederick", "Gilbert", "Herbert", "Ian", "Julian", "Karl",
    "Louis", "Maurice", "Noah", "Owen", "Quentin", "Ralph", "Stanley", "Tobias", "Ulrich", "Wesley", "Xavier", "Aaron",
    "Barry", "Clement", "Dylan", "Elias", "Floyd", "Glenn", "Howard", "Jonas", "Keith", "Lucas", "Miles", "Neil",
    "Perry", "Roland", "Silas", "Trevor", "Axel", "Boris", "Cyril", "Duncan", "Emil", "Finn", "Guy", "Hans", "Igor",
    "Joel", "Kurt", "Luke", "Max", "Nils", "Omar", "Pablo", "Ray", "Sven", "Todd", "Uri", "Wade", "Yusuf", "Ali",
    "Chen", "Diego", "Hiro", "Jorge", "Kenji", "Luis", "Raj", "Tomas",
];

pub(super) const MALE_ROOTS: &[&str] = &[
    "Al", "Am", "An", "Ar", "Ben", "Ber", "Bran", "Bren", "Cal", "Cam", "Car", "Con", "Cor", "Dal", "Dan", "Dar",
    "Der", "Dor", "Ed", "El", "Em", "Er", "Ev", "Fal", "Fen", "Fer", "Gal", "Gar", "Ger", "Gil", "Hal", "Han", "Har",
    "Hol", "Il", "Jar", "Jer", "Jor", "Jul", "Kel", "Ken", "Ker", "Lan", "Lar", "Len", "Lor", "Mal", "Mar", "Mel",
    "Mer", "Nor", "Ol", "Or", "Per", "Quil", "Ral", "Ran", "Ren", "Rol", "Ros", "Ruf", "Sal", "San", "Sel", "Sil",
    "Stan", "Tal", "Tar", "Ter", "Tor", "Tris", "Ul", "Val", "Var", "Ver", "Vin", "Wal", "War", "Wil", "Win", "Yor",
    "Zan", "Zor",
];

pub(super) const MALE_ENDINGS: &[&str] = &[
    "on", "en", "an", "in", "ard", "ric", "ton", "son", "io", "ius", "el", "is", "or", "er", "win", "mond", "bert",
    "ford", "ley", "vin", "rick", "lan", "dan", "mer", "as", "ino", "amir", "old", "ell",
];

pub(super) const LAST: &[&str] = &[
    "Miller", "Smith", "Baker", "Cook", "Hill", "Wood", "Stone", "King", "Brown", "White", "Green", "Young", "Martin",
    "Clark", "Adams", "Walker", "Turner", "Carter", "Fisher", "Hunter", "Mason", "Taylor", "Weaver", "Johnson",
    "Jones", "Davis", "Wilson", "Thomas", "Lee", "Garcia", "Lopez", "Nguyen", "Kim", "Singh", "Cohen", "Meyer",
    "Schmidt", "Weber", "Wagner", "Novak", "Rossi", "Ferrari", "Silva", "Santos", "Costa", "Hansen", "Larsen", "Berg",
    "Lund", "Murphy", "Kelly", "Ryan", "Campbell", "Stewart", "Scott", "Evans", "Hughes", "Price", "Bell", "Ward",
    "Gray", "Reed", "Long", "Bishop", "Butler", "Chapman", "Cooper", "Gardner", "Harper", "Porter", "Potter", "Sawyer",
    "Shepherd", "Tanner", "Wright", "Archer", "Bowman", "Bridges", "Brooks", "Fields", "Ford", "Forest", "Lake",
    "Marsh", "Meadows", "Rivers", "Woods", "Fox", "Wolf", "Swan", "Crane", "Finch", "Drake", "Lamb", "Bird", "Rose",
    "Ivanov", "Petrov", "Tanaka", "Sato", "Suzuki", "Chen", "Wang", "Patel", "Khan", "Haddad", "Okafor", "Mensah",
    "Diaz", "Torres", "Ramos", "Morales", "Dubois", "Laurent", "Moreau", "Jensen", "Olsen", "Andersen", "Virtanen",
    "Kowalski", "Horvath", "Nagy", "Popescu", "Jansen", "Visser", "Keller",
];

pub(super) const LAST_ROOTS: &[&str] = &[
    "Ab", "Ack", "Ad", "Ag", "Al", "Alb", "Ald", "Am", "And", "Ar", "Arn", "Ash", "Ast", "Bad", "Bal", "Ban", "Bar",
    "Bas", "Bec", "Bel", "Ben", "Ber", "Bex", "Bil", "Bir", "Bol", "Bon", "Bor", "Bos", "Bra", "Bran", "Bren", "Bri",
    "Bro", "Bru", "Bul", "Bur", "Cad", "Cal", "Cam", "Can", "Car", "Cas", "Cav", "Cel", "Chal", "Char", "Ches", "Cla",
    "Cle", "Clo", "Col", "Con", "Cor", "Cra", "Cre", "Cro", "Cul", "Cur", "Dal", "Dan", "Dar", "Dav", "Del", "Den",
    "Der", "Dev", "Dil", "Dol", "Don", "Dor", "Dra", "Dre", "Dro", "Dul", "Dun", "Dur", "Ed", "Eg", "El", "Elm", "Em",
    "En", "Er", "Es", "Ev", "Fal", "Fan", "Fel", "Fen", "Fer", "Fil", "Fir", "Fla", "Fle", "Flo", "Fol", "For", "Fra",
    "Fre", "Fro", "Ful", "Gab", "Gal", "Gan", "Gar", "Gel", "Gen", "Ger", "Gil", "Gla", "Gle", "Gor", "Gra", "Gre",
    "Gri", "Gro", "Gul", "Gun", "Had", "Hal", "Ham", "Han", "Har", "Has", "Hav", "Hel", "Hen", "Her", "Hil", "Hol",
    "Hor", "Hul", "Hun", "Il", "In", "Ir", "Is", "Jac", "Jan", "Jar", "Jen", "Jor", "Jun", "Kal", "Kan", "Kar", "Kas",
    "Kel", "Ken", "Ker", "Kil", "Kin", "Kir", "Kla", "Kol", "Kon", "Kor", "Kra", "Kre", "Kro", "Kul", "Lac", "Lam",
    "Lan", "Lar", "Lav", "Led", "Len", "Lin", "Lod", "Lom", "Lor", "Lud", "Lun", "Mac", "Mad", "Mal", "Man", "Mar",
    "Mas", "Mel", "Men", "Mer", "Mil", "Min", "Mir", "Mol", "Mon", "Mul", "Mur", "Nad", "Nal", "Nar", "Nel", "Ner",
    "Nes", "Nic", "Nol", "Nor", "Ob", "Od", "Ol", "Or", "Ot", "Pal", "Pan", "Par", "Pas", "Pel", "Per", "Pil", "Pin",
    "Pla", "Pol", "Pra", "Pre", "Pro", "Pul", "Quin", "Rad", "Ral", "Ram", "Ran", "Ras", "Red", "Rem", "Ren", "Ric",
    "Rin", "Rob", "Rod", "Rol", "Ros", "Rud", "Run", "Rus", "Sab", "Sal", "San", "Sar", "Sav", "Sel", "Sen", "Ser",
    "Sil", "Sin", "Sol", "Sor", "Spa", "Ste", "Sto", "Stra", "Sul", "Sun", "Sur", "Tal", "Tam", "Tan", "Tel", "Ten",
    "Ter", "Thar", "Thor", "Til", "Tol", "Tor", "Tra", "Tre", "Tro", "Tul", "Ul", "Um", "Val", "Van", "Var", "Vas",
    "Vel", "Ven", "Ver", "Vil", "Vin", "Vol", "Vor", "Wal", "War", "Wel", "Wen", "Wes", "Wil", "Win", "Wol", "Wyn",
    "Yal", "Yar", "Yor", "Zab", "Zal", "Zan", "Zel", "Zim", "Zol", "Zor",
];

/// Repeated so that names of two parts, which are the shorter, are as many as those of three.
pub(super) const LAST_LINKS: &[&str] = &["", "", "", "", "", "", "a", "e", "i", "o"];

pub(super) const LAST_ENDINGS: &[&str] = &[
    "ton", "ley", "ford", "field", "man", "mann", "berg", "sen", "son", "ski", "sky", "ov", "ova", "enko", "elli",
    "ini", "ez", "os", "akis", "ian", "yan", "mura", "ward", "wick", "worth", "combe", "shaw", "stead", "gard",
    "quist", "dahl", "heim", "stein", "bach", "hofer", "er", "ner", "ler", "kin", "kins", "by", "den", "der", "dorf",
    "feld", "gan", "ham", "hart", "hurst", "ich", "ing", "kamp", "land", "lock", "low", "mer", "mond", "nell", "nen",
    "oni", "ora", "pole", "rell", "rick", "ridge", "ros", "row", "sell", "ser", "tello", "ter", "thorpe", "tino",
    "vale", "van", "vin", "vold", "way", "well", "win", "wood", "zer", "zki", "lin", "ken", "das", "res", "lan", "ris",
    "nik", "ra", "no", "ma", "ki", "to", "la", "ne", "ard", "is", "ell", "et", "au", "in", "as", "ek", "ak", "ulis",
    "arro", "eda", "oja", "ino", "ell", "ett", "en",
];
