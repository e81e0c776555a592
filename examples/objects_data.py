"""Small collections of sets, questions, sentences and molecules, each in three classes."""

import numpy as np

from mercer.kernels import Graph, Tree

BASKETS = {
    "breakfast": """milk oats honey; bread butter jam; eggs bread butter; oats banana milk;
        yoghurt honey nuts; bread jam coffee milk; eggs bacon bread; yoghurt banana oats;
        coffee milk bread honey; butter jam bread tea; oats nuts milk banana; eggs butter tea""",
    "pasta": """spaghetti tomato garlic basil; penne cream bacon; spaghetti garlic oil chilli;
        tomato basil oil penne; spaghetti eggs bacon cheese; penne tomato chilli garlic;
        cheese cream garlic spaghetti; oil basil cheese garlic; tomato oil onion penne;
        spaghetti tomato onion basil; penne cheese basil cream; garlic chilli tomato oil""",
    "curry": """rice chicken coconut chilli; lentils onion garlic cumin; rice lentils cumin;
        chicken onion ginger cumin; coconut ginger chilli garlic; rice onion peas cumin;
        lentils coconut ginger; chicken cream ginger chilli; rice chilli onion ginger;
        peas potato cumin onion; potato lentils cumin ginger; coconut rice peas chicken""",
}

QUESTIONS = {
    "who": """Who wrote the first novel in English?; Who discovered the moons of Jupiter?;
        Who was the last emperor of Rome?; Who painted the ceiling of the chapel?;
        Who invented the electric telegraph?; What person first climbed the mountain alone?;
        Who founded the oldest university?; Who composed the opera about a barber?;
        What queen ruled the longest?; Who sailed around the world first?;
        What inventor built the first engine?; Who wrote the song about the river?;
        What painter cut off his own ear?; Who was the first woman in space?""",
    "where": """Where is the highest waterfall?; What country has the longest coast?;
        What city lies on two continents?; Where do penguins live?;
        What river flows through the capital of Austria?; Where was paper first made?;
        What is the largest island in the Mediterranean?; Where is the oldest bridge?;
        What country grows the most coffee?; Where does the river Nile begin?;
        What city has the busiest harbour?; What is the capital of the smallest country?;
        Where were the first coins struck?; What mountain lies on the border of Nepal?""",
    "how many": """How many planets have rings?; How many strings does a violin have?;
        How many bones are in the hand?; How many legs does a lobster have?;
        How far is it to the moon?; How many people speak Basque?;
        How many keys does a piano have?; How old is the oldest tree?;
        How many days did the voyage last?; How tall is the tallest tower?;
        How many sides does a cube have?; How many stars can one see?;
        How long does an egg take to boil?; How many languages are written from the right?""",
}

# In SMILES: atoms in a row are bound, brackets branch off, equal digits close a ring.
MOLECULES = {
    "aromatic": """c1ccccc1 Cc1ccccc1 Oc1ccccc1 Nc1ccccc1 CCc1ccccc1 Cc1ccccc1C Oc1ccccc1C
        c1ccccc1Cl Nc1ccccc1C Cc1ccc(C)cc1 Oc1ccc(N)cc1 c1ccc(Cl)cc1O CC(C)c1ccccc1
        COc1ccccc1 OC(=O)c1ccccc1 CC(=O)c1ccccc1""",
    "chain": """CCCC CCCCC CCO CCCO CCCCO CC(C)C CC(C)CO CCN CCCN CC(=O)O CCC(=O)O CC(=O)C
        CCOCC CCCCCl OCCO CC(O)CN""",
    "ring": """C1CCCC1 C1CCCCC1 CC1CCCCC1 OC1CCCCC1 NC1CCCCC1 C1CCOC1 C1CCOCC1 CC1CCCC1
        OC1CCCC1 C1CCNCC1 CC1CCOCC1 O=C1CCCCC1 C1COCCO1 CC1CCCCC1C OC1CCCCC1O ClC1CCCCC1""",
}

NOUNS, VERBS = ("dog", "child", "bird", "farmer"), ("saw", "found", "called", "fed")
PAST = {"saw": "seen", "found": "found", "called": "called", "fed": "fed"}


def listed(groups, separator):
    """Return the items of a dictionary of texts, and the class of each."""
    items, classes = [], []
    for name, text in groups.items():
        found = [" ".join(part.split()) for part in text.split(separator) if part.strip()]
        items += found
        classes += [name] * len(found)
    return items, np.array(classes)


def baskets():
    """Return sets of ingredients, and the meal that each is for."""
    items, classes = listed(BASKETS, ";")
    return [set(text.split()) for text in items], classes


def questions():
    """Return questions, and what they ask for."""
    return listed(QUESTIONS, ";")


def sentences(n_each=16, seed=2):
    """Return parsed sentences, and their forms: active, passive or question."""
    random = np.random.default_rng(seed)

    def noun():
        word = f"(NN {random.choice(NOUNS)})"
        return f"(NP (DT the) {random.choice(['', '(JJ old) ', '(JJ small) '])}{word})"

    trees, classes = [], []
    for _ in range(n_each):
        verb = random.choice(VERBS)
        past = f"(VBN {PAST[verb]})"
        for name, text in {
            "active": f"(S {noun()} (VP (VBD {verb}) {noun()}))",
            "passive": f"(S {noun()} (VP (VBD was) (VP {past} (PP (IN by) {noun()}))))",
            "question": f"(SQ (WP who) (VP (VBD {verb}) {noun()}))",
        }.items():
            trees.append(Tree.parse(text))
            classes.append(name)
    return trees, np.array(classes)


def read_smiles(text):
    """Return a molecule as a graph of atoms, with bonds labelled as single or double."""
    atoms, edges, bonds, last, branches, open_rings, bond = [], [], [], None, [], {}, "-"
    text = text.replace("Cl", "L")  # one letter per atom
    for sign in text:
        if sign.isalpha():
            atoms.append("Cl" if sign == "L" else sign)
            if last is not None:
                edges.append((last, len(atoms) - 1))
                bonds.append(bond)
            last, bond = len(atoms) - 1, "-"
        elif sign == "(":
            branches.append(last)
        elif sign == ")":
            last = branches.pop()
        elif sign == "=":
            bond = "="
        elif sign in open_rings:
            edges.append((open_rings.pop(sign), last))
            bonds.append("-")
        else:
            open_rings[sign] = last
    return Graph(len(atoms), edges, node_labels=atoms, edge_labels=bonds)


def molecules():
    """Return molecules as graphs, and their kind."""
    texts, classes = listed(MOLECULES, " ")
    return [read_smiles(text) for text in texts], classes
