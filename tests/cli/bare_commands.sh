# The commands by which pucli is known, as a CI job runs them: in an empty folder, without network, with nothing else
# given. Each ends with the next command, and what cannot run names the command that is missing: these are run as printed.
set -eu

# the command that the last line of a file names
next() { tail -n 1 "$1" | grep -o 'pucli [a-z]* [^`]*'; }
says_whose_rows() { head -n 1 "$1" | grep -q -e "No rows were given.*--data FILE --label COLUMN --positive VALUE"; }

if pucli evaluate 2>evaluate.err; then exit 90; fi
next evaluate.err >next.sh
sh -eu next.sh >saved.txt 2>saved.err
says_whose_rows saved.err
next saved.err >next.sh
sh -eu next.sh >evaluate.txt 2>evaluated.err
says_whose_rows evaluated.err
grep -q "^f1 .* true labels" evaluate.txt

pucli train --method glpual >train.txt 2>train.err
says_whose_rows train.err
test "$(next train.err)" = "pucli train --method glpual --dataset breast-cancer --model glpual.model"

pucli tune --method glpual >tune.txt 2>tune.err
says_whose_rows tune.err
next tune.err >next.sh
sh -eu next.sh >tuned.txt 2>tuned.err

pucli fetch >fetch.txt 2>fetch.err
grep -q "breast-cancer" fetch.txt
test "$(next fetch.err)" = "pucli fetch --experiment table-3.3"

pucli split >split.txt 2>split.err
next split.err >next.sh
sh -eu next.sh >of_split.txt 2>of_split.err

if pucli report 2>report.err; then exit 91; fi
test "$(next report.err)" = "pucli reproduce table-3.1 --profile smoke"

# none of its data sets is here: each is a download, and the command that fetches them is named
if pucli reproduce table-3.3 >reproduce.txt 2>reproduce.err; then exit 92; fi
grep -q "pucli fetch" reproduce.err
