from services.site.main import main

main()
